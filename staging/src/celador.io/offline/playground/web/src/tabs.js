// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { element } from "./element.js";

// A TabList shows one of several panels. Tab reaches the selected tab; arrow keys, Home and End select another one.
export class TabList {
  #tabs = new Map();

  // tabs has the name and the title of each tab. onSelect is called with the name of a tab that the user selects.
  constructor(label, tabs, onSelect = () => {}) {
    this.list = element("div", { role: "tablist", "aria-label": label, onkeydown: (event) => this.#move(event) });
    this.panels = [];
    this.onSelect = onSelect;
    for (const { name, title } of tabs) {
      const mark = element("span", { class: "mark" });
      const tab = element(
        "button",
        { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => this.select(name) },
        title,
        mark,
      );
      const panel = element("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, class: "panel" });
      this.#tabs.set(name, { tab, mark, panel });
      this.list.append(tab);
      this.panels.push(panel);
    }
    this.select(tabs[0].name);
  }

  panel(name) {
    return this.#tabs.get(name).panel;
  }

  has(name) {
    return this.#tabs.has(name);
  }

  // select shows the panel with the given name and hides the others.
  select(name) {
    for (const [other, { tab, panel }] of this.#tabs) {
      const selected = other === name;
      tab.setAttribute("aria-selected", selected);
      tab.tabIndex = selected ? 0 : -1;
      panel.hidden = !selected;
    }
    this.onSelect(name);
  }

  // mark shows whether a panel has text, and how many problems.
  mark(name, filled, problems) {
    const { tab, mark } = this.#tabs.get(name);
    tab.classList.toggle("filled", filled);
    tab.classList.toggle("faulty", problems > 0);
    const spoken = problems > 0 ? `, ${problems} ${problems === 1 ? "problem" : "problems"}` : filled ? "" : ", empty";
    mark.replaceChildren(
      element("span", { "aria-hidden": "true" }, problems > 0 ? String(problems) : filled ? "•" : ""),
      element("span", { class: "spoken" }, spoken),
    );
  }

  #move(event) {
    const names = [...this.#tabs.keys()];
    const current = names.findIndex((name) => this.#tabs.get(name).tab === document.activeElement);
    const next = {
      ArrowRight: (current + 1) % names.length,
      ArrowLeft: (current + names.length - 1) % names.length,
      Home: 0,
      End: names.length - 1,
    }[event.key];
    if (current < 0 || next === undefined) {
      return;
    }
    event.preventDefault();
    this.select(names[next]);
    this.#tabs.get(names[next]).tab.focus();
  }
}
