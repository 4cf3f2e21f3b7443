// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { code, element } from "./element.js";
import { place } from "./place.js";

// expressions tabulates the values, costs and branches of the expressions of all policies.
export function expressions(answer, jump) {
  const all = answer.expressions ?? [];
  if (all.length === 0) {
    return null;
  }
  const severalPolicies = new Set(all.map(({ policy }) => policy)).size > 1;
  const columns = ["Expression", "Value", "Cost", "Branches"];
  const head = element("tr", {}, ...columns.map((title) => element("th", { scope: "col", class: title.toLowerCase() }, title)));
  return element(
    "table",
    {},
    element("thead", {}, head),
    ...all.map((expression) => element("tbody", {}, ...rows(expression, severalPolicies, jump))),
    element("tfoot", {}, total(all, answer.omitted?.expressions > 0)),
  );
}

// rows returns two rows for each evaluation of an expression: what fits into the columns, and below, in the whole width, what
// explains it. The server omits some of many evaluations.
function rows(expression, severalPolicies, jump) {
  const { policy, field, text, evaluations, covered, branches, omitted } = expression;
  const [first, ...others] = evaluations ?? [];
  const name = element(
    "th",
    { scope: "rowgroup" },
    element("div", { class: "where" }, severalPolicies ? element("small", {}, policy) : null, place(expression, jump, field) ?? code(field)),
  );
  const cells = first ? valueAndCost(first) : [element("td", { colspan: "2", class: "none" }, "not evaluated")];
  return [
    element("tr", {}, name, ...cells, element("td", {}, branches > 0 ? `${covered ?? 0} of ${branches}` : "")),
    wide(element("code", { class: "source" }, text), first ? explanation(expression, first) : null, missing(expression.missing)),
    ...others.flatMap((evaluation, i) => [
      element("tr", {}, element("td", { class: "none" }, `evaluation ${i + 2}`), ...valueAndCost(evaluation), element("td", {})),
      wide(explanation(expression, evaluation)),
    ]),
    ...(omitted > 0 ? [wide(`and ${omitted} more evaluations`)] : []),
  ];
}

function wide(...content) {
  return element("tr", { class: "wide" }, element("td", { colspan: "4" }, ...content));
}

function valueAndCost({ value, error, cost }) {
  const tone = error ? "failed" : { true: "true", false: "false" }[value];
  return [
    element("td", {}, error ? element("small", { class: "failed" }, "error ") : null, element("code", { class: `computed ${tone ?? ""}` }, value ?? "")),
    element("td", { class: "cost" }, cost === undefined || cost === null ? "" : String(cost)),
  ];
}

// explanation returns the part of the expression that decides its value, unless all of it does, and the values in this part.
function explanation({ text }, { part, values }) {
  const facts = (values ?? []).map((fact) => element("li", {}, code(fact.text), " is ", code(fact.value)));
  if (part && part !== text) {
    facts.unshift(element("li", {}, "decided by ", code(part)));
  }
  return facts.length > 0 ? element("ul", { class: "facts" }, ...facts) : null;
}

function missing(branches) {
  if (!branches?.length) {
    return null;
  }
  return element("ul", { class: "facts missing", "aria-label": "Missing branches" }, ...branches.map((branch) => element("li", {}, branch)));
}

// total adds up all expressions, or the shown ones if there are others.
function total(all, omitted) {
  const sum = (count) => all.reduce((total, expression) => total + count(expression), 0);
  const cost = sum(({ evaluations }) => (evaluations ?? []).reduce((total, evaluation) => total + (evaluation.cost ?? 0), 0));
  const cells = [String(cost), `${sum(({ covered }) => covered ?? 0)} of ${sum(({ branches }) => branches ?? 0)}`];
  return element("tr", {}, element("th", { scope: "row", colspan: "2" }, omitted ? "Shown expressions" : "All expressions"), ...cells.map((text) => element("td", {}, text)));
}
