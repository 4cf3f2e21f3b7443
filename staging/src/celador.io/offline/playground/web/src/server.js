// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { code, element } from "./element.js";

// status shows the status that the client of a rejected request gets.
export function status(answer) {
  if (!answer.status?.message) {
    return null;
  }
  const { code: number, reason, message } = answer.status;
  return element("div", {}, element("p", {}, code([number, reason].filter(Boolean).join(" "))), element("p", { class: "message" }, message));
}

// warnings lists the warnings to the client.
export function warnings(answer) {
  if (!answer.warnings?.length) {
    return null;
  }
  return element("ul", { class: "remarks warn" }, ...answer.warnings.map((warning) => element("li", { class: "message" }, warning)));
}

// webhooks lists which webhooks the server would call, and why not the others.
export function webhooks(answer) {
  if (!answer.webhooks?.length) {
    return null;
  }
  const items = answer.webhooks.map(({ configuration, name, called, reason }) =>
    element(
      "li",
      {},
      element("div", { class: "row" }, element("span", { class: "outcome" }, called ? "Called" : "Not called"), element("strong", {}, name), element("small", {}, configuration)),
      reason ? element("p", { class: "detail" }, reason) : null,
    ),
  );
  return element("ul", { class: "policies" }, ...items);
}

// auditAnnotations lists the annotations of the audit event.
export function auditAnnotations(answer) {
  const annotations = Object.entries(answer.auditAnnotations ?? {});
  if (annotations.length === 0) {
    return null;
  }
  return element("dl", {}, ...annotations.flatMap(([key, value]) => [element("dt", {}, code(key)), element("dd", { class: "message" }, value)]));
}
