// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { Decision } from "./decision.js";
import { element } from "./element.js";
import { expressions } from "./expressions.js";
import { diff, object } from "./objects.js";
import { policies } from "./policies.js";
import { problems, typeWarnings } from "./problems.js";
import { auditAnnotations, status, warnings, webhooks } from "./server.js";

// parts has the identifier, the title and the content of each section of the results, in the order of the page, and the name of the
// list in the answer that the section shows, if it shows one. A section without content is hidden.
const parts = [
  ["problems", "Problems", problems, "problems"],
  ["status", "Answer to the client", status],
  ["warnings", "Warnings to the client", warnings, "warnings"],
  ["policies", "Policies", policies, "policies"],
  ["webhooks", "Webhooks", webhooks, "webhooks"],
  ["diff", "Changes by policies", diff],
  ["type-warnings", "Warnings of type checks", typeWarnings, "typeWarnings"],
  ["expressions", "Expressions", expressions, "expressions"],
  ["audit-annotations", "Audit annotations", auditAnnotations],
  ["object", "Object after admission", object],
];

// Results shows answers of the server.
export class Results {
  #sections = [];

  // jump is called with the pane and the line of a place that the user selects.
  constructor(area, banner, jump) {
    this.area = area;
    this.decision = new Decision(banner);
    for (const [id, title, render, list] of parts) {
      const body = element("div");
      const section = element("section", { id, "aria-labelledby": `${id}-title`, hidden: true }, element("h2", { id: `${id}-title` }, title), body);
      this.#sections.push({ section, body, render: (answer) => render(answer, jump), omitted: (answer) => answer.omitted?.[list] ?? 0 });
      area.append(section);
    }
  }

  // wait dims the last answer until the next one is there.
  wait() {
    this.area.setAttribute("aria-busy", "true");
  }

  show(answer) {
    this.area.setAttribute("aria-busy", "false");
    this.decision.show(answer);
    for (const { section, body, render, omitted } of this.#sections) {
      const open = body.querySelector("details")?.open;
      const content = render(answer);
      section.hidden = content === null;
      const more = omitted(answer) > 0 ? [element("p", { class: "detail" }, `and ${omitted(answer)} more`)] : [];
      body.replaceChildren(...(content === null ? [] : [content, ...more]));
      if (open) {
        body.querySelector("details")?.setAttribute("open", "");
      }
    }
  }

  // fail shows that there is no answer. The last one goes: it is not for the state that the page has.
  fail(error) {
    this.area.setAttribute("aria-busy", "false");
    this.decision.fail(error);
    for (const { section } of this.#sections) {
      section.hidden = true;
    }
  }
}
