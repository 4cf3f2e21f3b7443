// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { element } from "./element.js";
import { titleOf } from "./panes.js";

// place returns a button that jumps to a line of a pane, or null if there is no pane. text defaults to the place itself.
export function place({ pane, line }, jump, text) {
  if (!pane) {
    return null;
  }
  const title = pane === "featureGates" ? "Feature gates" : titleOf(pane);
  const where = line > 0 ? `${title}, line ${line}` : title;
  return element(
    "button",
    { type: "button", class: "place", title: text && `Go to ${where}`, onclick: () => jump(pane, line) },
    text ?? where,
  );
}
