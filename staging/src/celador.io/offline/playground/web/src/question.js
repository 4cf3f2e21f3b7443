// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { element } from "./element.js";

// ask shows a question with an answer that does something and one that does nothing. It returns whether the user selects the first one.
// Escape selects the other one, which has the focus.
export function ask(question, { yes, no }) {
  const dialog = element(
    "dialog",
    { id: "question", "aria-labelledby": "question-text" },
    element("p", { id: "question-text" }, question),
    element("form", { method: "dialog" }, element("button", { id: "question-no", autofocus: true }, no), element("button", { id: "question-yes", value: "yes" }, yes)),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
