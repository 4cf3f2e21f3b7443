// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { examples } from "./api.js";
import * as draft from "./draft.js";
import { Editors } from "./editors.js";
import { element } from "./element.js";
import { Evaluator } from "./evaluator.js";
import * as featureGates from "./featuregates.js";
import * as link from "./link.js";
import { diagnostics } from "./problems.js";
import { ask } from "./question.js";
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

// edited tells whether the page has changes of the user.
let edited = false;

// changed evaluates what the user changes. It is then no example any more.
function changed() {
  select.value = "";
  edited = true;
  evaluator.schedule(() => {
    keepDraft();
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

// keepDraft keeps the changes of the user for the time after a reload, and reports whether nothing gets lost.
function keepDraft() {
  return !edited || draft.keep(editors.texts, gates.value);
}

// restore shows a state, of the example with the given name if there is one. It has no changes of the user.
function restore({ panes, featureGates: on }, example = "") {
  fill(panes, featureGates.format(on ?? {}));
  select.value = example;
  edited = false;
}

function fill(panes, gatesText) {
  gates.value = gatesText;
  editors.replace(panes);
  changed();
}

// replaceable reports whether the user gives up changes. There may be none.
async function replaceable(what) {
  return !edited || ask(`${what} replaces your changes.`, { yes: "Replace my changes", no: "Keep my changes" });
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
      keepDraft();
      tell("The address has your changes.", false);
    }
  } catch (error) {
    linked = false;
    history.replaceState(null, "", location.pathname);
    keepDraft();
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

// resume restores the draft of this address, and reports whether there is one.
function resume() {
  const found = draft.kept();
  if (found === null) {
    return false;
  }
  fill(found.panes, found.gates);
  linked = location.hash !== "";
  tell("Your changes are back. Choose an example to start over.", false);
  return true;
}

// follow restores the state of the link that opened the page, and reports whether there is one.
async function follow() {
  try {
    const shared = await link.decode(location.hash);
    if (shared !== null && (await replaceable("The link"))) {
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
  addEventListener("hashchange", () => {
    linked = false;
    follow();
  });
  addEventListener("pagehide", keepDraft);
  addEventListener("beforeunload", (event) => {
    if (!keepDraft()) {
      event.preventDefault(); // the browser asks
    }
  });
  let offered = [];
  const followed = resume() || (await follow());
  try {
    offered = await examples();
  } catch (error) {
    tell(error.message, true);
  }
  select.append(...offered.map(({ name, title }) => element("option", { value: name }, title || name)));
  select.addEventListener("change", async () => {
    const example = offered.find(({ name }) => name === select.value);
    if (example === undefined) {
      return;
    }
    if (!(await replaceable("The example"))) {
      select.value = "";
      return;
    }
    restore(example, example.name);
    draft.forget();
    tell("", false);
  });
  if (!followed && offered.length > 0) {
    restore(offered[0], offered[0].name);
  }
}

start();
