// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// element returns a new element with the given attributes and children. Attributes whose value is a function are
// listeners, such as onclick; those whose value is false, null or undefined are left out. Children are nodes, or strings,
// which become text and never markup; null and undefined are left out.
export function element(tag, attributes = {}, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      created.addEventListener(name.slice("on".length), value);
    } else if (value !== false && value !== null && value !== undefined) {
      created.setAttribute(name, value === true ? "" : value);
    }
  }
  created.append(...children.filter((child) => child !== null && child !== undefined));
  return created;
}

// code returns text as an inline piece of code.
export function code(text) {
  return element("code", {}, text);
}
