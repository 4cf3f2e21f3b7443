// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";

import { highlight } from "./highlight.js";
import { theme } from "./theme.js";

// An Editor edits the YAML of one pane. Tab indents; CodeMirror gives Tab back to the page after Escape.
export class Editor {
  #view;

  // parent gets the editor. label and describedBy are for screen readers. onChange is called after each change of the text.
  constructor(parent, { label, hint, describedBy, onChange }) {
    const look = theme();
    this.#view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          search({ top: true }),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
          yaml(),
          highlight,
          look.extension,
          placeholder(hint),
          EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": describedBy }),
          EditorView.updateListener.of((update) => update.docChanged && onChange()),
        ],
      }),
    });
    look.follow(this.#view);
  }

  get text() {
    return this.#view.state.doc.toString();
  }

  // replace sets the text, without a call of onChange. Undo brings the previous one back.
  replace(text) {
    const { state } = this.#view;
    const change = state.update({
      changes: { from: 0, to: state.doc.length, insert: text },
      selection: { anchor: 0 },
      // Without it, a change shortly before, such as that of the link, would be undone, too.
      annotations: isolateHistory.of("full"),
    });
    // If an editor that is not in view dispatched the change, CodeMirror would draw all lines of the text.
    this.#view.setState(change.state);
    this.#view.scrollDOM.scrollTop = 0;
  }

  // jump puts the cursor at the start of the text in a line and focuses the editor.
  jump(line) {
    const { from } = this.#range(line);
    this.#view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.#view.focus();
  }

  // diagnose marks lines. Each diagnostic has a line, a severity (error, warning or info) and a message.
  diagnose(diagnostics) {
    const placed = diagnostics.map(({ line, severity, message }) => ({ ...this.#range(line), severity, message }));
    placed.sort((a, b) => a.from - b.from);
    this.#view.dispatch(setDiagnostics(this.#view.state, placed));
  }

  // range returns the text of a line without its indentation. Lines that do not exist, such as 0, become the nearest one.
  #range(line) {
    const { doc } = this.#view.state;
    const { from, to, text } = doc.line(Math.min(Math.max(line || 1, 1), doc.lines));
    return { from: from + text.length - text.trimStart().length, to };
  }
}
