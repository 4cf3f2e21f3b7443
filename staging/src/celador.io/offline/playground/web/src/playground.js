// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { examples } from "./api.js";
import { Editors } from "./editors.js";
import { element } from "./element.js";
import { Evaluator } from "./evaluator.js";
import * as featureGates from "./featuregates.js";
import * as link from "./link.js";
import { diagnostics } from "./problems.js";
import { Results } from "./results.js";

const byID = (id) => document.getElementById(id);
const gates = byID("feature-gates");
const select = byID("example");
const notice = byID("notice");

const results = new Results(byID("results"), byID("decision"), jump);
const evaluator = new Evaluator({
  onStart: () => results.wait(),
  onAnswer: (answer) => {
    results.show(answer);
    editors.diagnose(diagnostics(answer));
  },
  onFailure: (error) => {
    results.fail(error);
    editors.diagnose([]);
  },
});
const editors = new Editors(byID("editors"), { describedBy: "keys", onChange: changed });

// changed evaluates what the user changes. It is then no example any more.
function changed() {
  select.value = "";
  evaluator.schedule(() => {
    const current = state();
    refreshLink(current);
    return current;
  });
}

// state returns what the server evaluates and links carry. It throws if the feature gates are not usable.
function state() {
  gates.removeAttribute("aria-invalid");
  try {
    return { panes: editors.texts, featureGates: featureGates.parse(gates.value) };
  } catch (error) {
    gates.setAttribute("aria-invalid", "true");
    throw error;
  }
}

// restore shows a state, of the example with the given name if there is one.
function restore({ panes, featureGates: on }, example = "") {
  gates.value = featureGates.format(on ?? {});
  editors.replace(panes);
  changed();
  select.value = example;
}

function jump(pane, line) {
  if (editors.has(pane)) {
    editors.jump(pane, line);
  } else {
    gates.focus();
  }
}

// linked tells whether the address carries the state of the page. It does after "Share", and after a link was opened.
let linked = false;

// refreshLink makes the address carry the changes of the user, so that a reload does not revert them.
async function refreshLink(current) {
  if (!linked) {
    return;
  }
  const before = location.hash;
  try {
    const fragment = await link.encode(current);
    if (fragment !== before && location.hash === before) {
      history.replaceState(null, "", fragment);
      tell("The address has your changes.", false);
    }
  } catch (error) {
    linked = false;
    history.replaceState(null, "", location.pathname);
    tell(error.message, true);
  }
}

// tell shows a message beside the controls until the next one.
function tell(message, failed) {
  notice.textContent = message;
  notice.classList.toggle("failed", failed);
}

async function share() {
  try {
    history.replaceState(null, "", await link.encode(state()));
    linked = true;
  } catch (error) {
    tell(error.message, true);
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    tell("Link copied.", false);
  } catch {
    tell("The link is in the address bar.", false);
  }
}

// follow restores the state of the link that opened the page, and reports whether there is one.
async function follow() {
  linked = false;
  try {
    const shared = await link.decode(location.hash);
    if (shared !== null) {
      linked = true;
      restore(shared);
      tell("", false);
      return true;
    }
  } catch (error) {
    tell(error.message, true);
  }
  return false;
}

async function start() {
  gates.addEventListener("input", changed);
  byID("share").addEventListener("click", share);
  addEventListener("hashchange", follow);
  let offered = [];
  const followed = await follow();
  try {
    offered = await examples();
  } catch (error) {
    tell(error.message, true);
  }
  select.append(...offered.map(({ name, title }) => element("option", { value: name }, title || name)));
  select.addEventListener("change", () => {
    const example = offered.find(({ name }) => name === select.value);
    if (example !== undefined) {
      restore(example, example.name);
    }
  });
  if (!followed && offered.length > 0) {
    restore(offered[0], offered[0].name);
  }
}

start();
