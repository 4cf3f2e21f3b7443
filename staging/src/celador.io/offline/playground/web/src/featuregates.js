// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// parse returns the feature gates of a text such as "A=true,B=false" by name. It throws an Error with a message for the user.
export function parse(text) {
  const gates = {};
  for (const entry of text.split(",").map((part) => part.trim()).filter(Boolean)) {
    const [, name, value] = /^(\w+)\s*=\s*(true|false)$/.exec(entry) ?? [];
    if (name === undefined) {
      throw new Error(`Feature gates: “${entry}” is not like Name=true. Separate several with commas.`);
    }
    gates[name] = value === "true";
  }
  return gates;
}

// format returns the text that parse reads.
export function format(gates) {
  return Object.entries(gates).map(([name, on]) => `${name}=${on}`).join(",");
}
