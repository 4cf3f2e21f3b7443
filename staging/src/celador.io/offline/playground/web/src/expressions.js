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
  const columns = ["Expression", "Value", "Cost", "Branches"];
  const head = element("tr", {}, ...columns.map((title) => element("th", { scope: "col", class: title.toLowerCase() }, title)));
  return element(
    "table",
    {},
    element("thead", {}, head),
    ...all.map((expression) => element("tbody", {}, ...rows(expression, new Set(all.map(({ policy }) => policy)).size > 1, jump))),
    element("tfoot", {}, total(all)),
  );
}

// rows returns a row for each evaluation of an expression, and one if there is none. The server omits some of many evaluations.
function rows(expression, severalPolicies, jump) {
  const [first, ...others] = expression.evaluations ?? [];
  const about = element(
    "th",
    { scope: "row" },
    element("div", { class: "where" }, severalPolicies ? element("small", {}, expression.policy) : null, place(expression, jump, expression.field) ?? code(expression.field)),
    element("code", { class: "source" }, expression.text),
    first ? explanation(expression, first) : null,
    missing(expression.missing),
  );
  const branches = expression.branches > 0 ? `${expression.covered ?? 0} of ${expression.branches}` : "";
  return [
    element("tr", {}, about, ...(first ? valueAndCost(first) : [element("td", { colspan: "2", class: "none" }, "not evaluated")]), element("td", {}, branches)),
    ...others.map((evaluation) => element("tr", {}, element("td", {}, explanation(expression, evaluation)), ...valueAndCost(evaluation), element("td", {}))),
    ...(expression.omitted > 0 ? [element("tr", {}, element("td", { colspan: "4", class: "none" }, `and ${expression.omitted} more evaluations`))] : []),
  ];
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

function total(all) {
  const sum = (count) => all.reduce((total, expression) => total + count(expression), 0);
  const cost = sum(({ evaluations }) => (evaluations ?? []).reduce((total, evaluation) => total + (evaluation.cost ?? 0), 0));
  const cells = [String(cost), `${sum(({ covered }) => covered ?? 0)} of ${sum(({ branches }) => branches ?? 0)}`];
  return element("tr", {}, element("th", { scope: "row", colspan: "2" }, "All expressions"), ...cells.map((text) => element("td", {}, text)));
}
