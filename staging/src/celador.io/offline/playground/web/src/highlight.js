// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

// highlight colours YAML with the custom properties of playground.css, which know dark and light.
export const highlight = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--syntax-key)" },
    { tag: [tags.string, tags.special(tags.string), tags.content, tags.attributeValue], color: "var(--syntax-string)" },
    { tag: [tags.comment, tags.lineComment], color: "var(--muted)", fontStyle: "italic" },
    { tag: [tags.keyword, tags.typeName, tags.labelName, tags.meta, tags.separator, tags.punctuation], color: "var(--syntax-mark)" },
  ]),
);
