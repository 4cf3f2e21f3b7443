// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { Editor } from "./editor.js";
import { element } from "./element.js";
import { groups, panes } from "./panes.js";
import { TabList } from "./tabs.js";

// Editors holds an editor for each pane, in a list of tabs for each group of panes.
export class Editors {
  #editors = new Map();
  #lists = [];

  // parent gets the editors. onChange is called after each change of a text.
  constructor(parent, { describedBy, onChange }) {
    for (const { label, panes: members } of groups) {
      const tabs = new TabList(label, members);
      for (const { name, title, hint } of members) {
        this.#editors.set(name, new Editor(tabs.panel(name), { label: title, hint, describedBy, onChange }));
      }
      this.#lists.push(tabs);
      parent.append(element("section", { class: "group", "aria-label": label }, tabs.list, ...tabs.panels));
    }
  }

  // texts returns the text of each pane by name.
  get texts() {
    return Object.fromEntries(panes.map(({ name }) => [name, this.#editors.get(name).text]));
  }

  // replace sets the texts of all panes, and shows the first pane of each group that has a text. Panes without a text in
  // texts become empty.
  replace(texts) {
    for (const [name, editor] of this.#editors) {
      editor.replace(texts[name] ?? "");
    }
    groups.forEach(({ panes: members }, i) => {
      this.#lists[i].select((members.find(({ name }) => texts[name]) ?? members[0]).name);
    });
  }

  has(pane) {
    return this.#editors.has(pane);
  }

  // jump shows a pane and puts the cursor into a line of it.
  jump(pane, line) {
    this.#list(pane).select(pane);
    this.#editors.get(pane).jump(line);
  }

  // diagnose marks the lines of diagnostics, which have a pane, a line, a severity and a message, and counts the errors of
  // each pane in its tab.
  diagnose(diagnostics) {
    for (const [name, editor] of this.#editors) {
      const own = diagnostics.filter(({ pane }) => pane === name);
      editor.diagnose(own.filter(({ line }) => line > 0));
      this.#list(name).mark(name, editor.text.trim() !== "", own.filter(({ severity }) => severity === "error").length);
    }
  }

  #list(pane) {
    return this.#lists.find((tabs) => tabs.has(pane));
  }
}
