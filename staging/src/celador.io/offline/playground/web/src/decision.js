// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { element } from "./element.js";

// decisions has the look of each decision of the API: its tone, sign, title, and the text if the answer gives no reason.
const decisions = {
  Allowed: { tone: "good", sign: "✓", title: "Allowed", text: "A policy applies, and none denies the request." },
  Denied: { tone: "bad", sign: "✗", title: "Denied", text: "A policy denies the request." },
  Error: { tone: "bad", sign: "!", title: "Error", text: "A policy rejects the request because it cannot be evaluated." },
  NoMatch: { tone: "neutral", sign: "–", title: "No match", text: "No policy applies." },
  Rejected: { tone: "bad", sign: "!", title: "Rejected", text: "The server itself rejects the request." },
};

const undecided = { tone: "neutral", sign: "…", title: "Undecided", text: "Write an object or a request, and the decision appears here." };
const unusable = { tone: "bad", sign: "!", title: "Not usable", text: "Solve the problems below first." };

// A Decision is the banner with the decision of the last answer. It is a live region, so it changes only if the decision does.
export class Decision {
  #shown = "";

  constructor(banner) {
    this.banner = banner;
  }

  show(answer) {
    let look = decisions[answer.decision] ?? (answer.problems?.length ? unusable : undecided);
    const warnings = answer.warnings?.length ?? 0;
    if (answer.allowed && warnings > 0) {
      look = { ...look, tone: "warn", sign: "!", title: `${look.title}, with ${warnings === 1 ? "a warning" : `${warnings} warnings`}` };
    }
    this.#show({ ...look, text: answer.reason || look.text });
  }

  // fail shows that there is no answer, and why.
  fail(error) {
    this.#show({ tone: "bad", sign: "!", title: "No answer", text: error.message });
  }

  #show({ tone, sign, title, text }) {
    const shown = JSON.stringify([title, text]);
    if (shown === this.#shown) {
      return;
    }
    this.#shown = shown;
    this.banner.className = `banner ${tone}`;
    this.banner.replaceChildren(
      element("span", { class: "sign", "aria-hidden": "true" }, sign),
      element("div", {}, element("strong", { class: "title" }, title), element("p", {}, text)),
    );
  }
}
