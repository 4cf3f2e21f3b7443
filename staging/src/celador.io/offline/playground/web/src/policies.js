// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { code, element } from "./element.js";

// policies lists what each policy does through each binding, with the validations that are violated.
export function policies(answer) {
  if (!answer.policies?.length) {
    return null;
  }
  return element("ul", { class: "policies" }, ...answer.policies.map(policy));
}

function policy({ kind, policy: name, binding, outcome, reason, violations }) {
  return element(
    "li",
    {},
    element("div", { class: "row" }, element("span", { class: `outcome ${outcome}` }, words(outcome)), element("strong", {}, name), element("small", {}, kind)),
    element("p", { class: "detail" }, ...(binding ? ["through binding ", code(binding), reason ? ": " : null] : []), reason),
    violations?.length ? element("ul", { class: "violations" }, ...violations.map(violation)) : null,
  );
}

function violation({ validation, message, reason, field, actions, failed, ignored }) {
  const facts = [failed && "cannot be evaluated", ignored && "ignored by failurePolicy", reason, ...(actions ?? [])].filter(Boolean).join(", ");
  return element(
    "li",
    {},
    element("div", { class: "where" }, validation >= 0 ? code(`validations[${validation}]`) : null, facts ? element("small", {}, facts) : null),
    element("p", { class: "message" }, ...(field ? [code(field), ": "] : []), message),
  );
}

// words returns an outcome of the API, such as NotMatched, in words.
function words(outcome) {
  return outcome.replace(/([a-z])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);
}
