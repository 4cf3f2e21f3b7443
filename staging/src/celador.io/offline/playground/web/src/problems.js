// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { code, element } from "./element.js";
import { place } from "./place.js";

// problems lists input that is not usable, with the places in the panes.
export function problems(answer, jump) {
  return remarks(answer.problems, "bad", jump, ({ message }) => message);
}

// typeWarnings lists the warnings of type checks.
export function typeWarnings(answer, jump) {
  return remarks(answer.typeWarnings, "warn", jump, ({ warning }) => warning);
}

// diagnostics returns the problems and warnings of an answer for the editors.
export function diagnostics(answer) {
  return [
    ...(answer.problems ?? []).map(({ pane, line, message }) => ({ pane, line, message, severity: "error" })),
    ...(answer.typeWarnings ?? []).map(({ pane, line, warning }) => ({ pane, line, message: warning, severity: "warning" })),
  ];
}

// Messages of several lines point with ASCII art to a part of an expression, which needs a monospaced font.
function remarks(list, tone, jump, text) {
  if (!list?.length) {
    return null;
  }
  const items = list.map((remark) => {
    const message = text(remark);
    return element(
      "li",
      {},
      element("div", { class: "where" }, place(remark, jump), remark.field ? code(remark.field) : null),
      element(message.includes("\n") ? "code" : "p", { class: "message" }, message),
    );
  });
  return element("ul", { class: `remarks ${tone}` }, ...items);
}
