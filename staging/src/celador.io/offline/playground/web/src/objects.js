// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { element } from "./element.js";

// lineKinds has the class and the element of the lines of a unified diff by their first character.
const lineKinds = { "+": ["added", "ins"], "-": ["removed", "del"], "@": ["hunk", "span"] };

// diff shows what the policies change in the object.
export function diff(answer) {
  if (!answer.diff) {
    return null;
  }
  const lines = answer.diff.replace(/\n$/, "").split("\n").map((line) => {
    const [name, tag] = /^(---|\+\+\+) /.test(line) ? ["file", "span"] : (lineKinds[line[0]] ?? ["same", "span"]);
    return element(tag, { class: `line ${name}` }, line + "\n");
  });
  return scrollable("Changes of the object", ...lines);
}

// object shows the object after admission.
export function object(answer) {
  if (!answer.object) {
    return null;
  }
  return element("details", {}, element("summary", {}, "Show the YAML"), scrollable("Object after admission", answer.object));
}

// scrollable returns preformatted text that scrolls sideways, with the keyboard, too.
function scrollable(label, ...content) {
  return element("pre", { tabindex: "0", role: "group", "aria-label": label }, ...content);
}
