// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { Decision } from "./decision.js";
import { element } from "./element.js";
import { expressions } from "./expressions.js";
import { diff, object } from "./objects.js";
import { policies } from "./policies.js";
import { problems, typeWarnings } from "./problems.js";
import { auditAnnotations, status, warnings, webhooks } from "./server.js";

// parts has the identifier, the title and the content of each section of the results, in the order of the page. A section
// without content is hidden.
const parts = [
  ["problems", "Problems", problems],
  ["status", "Answer to the client", status],
  ["warnings", "Warnings to the client", warnings],
  ["policies", "Policies", policies],
  ["webhooks", "Webhooks", webhooks],
  ["diff", "Changes by policies", diff],
  ["type-warnings", "Warnings of type checks", typeWarnings],
  ["expressions", "Expressions", expressions],
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
    for (const [id, title, render] of parts) {
      const body = element("div");
      const section = element("section", { id, "aria-labelledby": `${id}-title`, hidden: true }, element("h2", { id: `${id}-title` }, title), body);
      this.#sections.push({ section, body, render: (answer) => render(answer, jump) });
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
    for (const { section, body, render } of this.#sections) {
      const open = body.querySelector("details")?.open;
      const content = render(answer);
      section.hidden = content === null;
      body.replaceChildren(...(content === null ? [] : [content]));
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
