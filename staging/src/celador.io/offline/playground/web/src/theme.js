// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { Compartment } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

const colours = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--surface)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active)" },
  ".cm-placeholder": { color: "var(--muted)", whiteSpace: "pre-wrap" },
  ".cm-panels, .cm-tooltip": { color: "var(--text)", backgroundColor: "var(--page)", borderColor: "var(--control)" },
  ".cm-textfield, .cm-button": { color: "var(--text)", backgroundColor: "var(--page)", backgroundImage: "none", borderColor: "var(--control)" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", whiteSpace: "pre-wrap", maxWidth: "40rem" },
});

// theme returns the look of an editor. CodeMirror's own parts, such as selections, need to be told of a change from light
// to dark; follow does that for a view.
export function theme() {
  const darkness = new Compartment();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const current = () => EditorView.darkTheme.of(dark.matches);
  return {
    extension: [colours, darkness.of(current())],
    follow: (view) => dark.addEventListener("change", () => view.dispatch({ effects: darkness.reconfigure(current()) })),
  };
}
