// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { panes } from "./panes.js";

// A link carries the state of the page, its panes and feature gates, in the fragment: deflated JSON in base64url. The
// prefix changes if the state does. Browsers do not send fragments to servers.
const prefix = "#v1=";

// limit is the largest state in bytes: what the server evaluates, too. It bounds what a malicious link can inflate to.
const limit = 1 << 20;

// encode returns the fragment of a state. It throws an Error with a message for the user if the state exceeds the limit.
export async function encode(state) {
  const text = new TextEncoder().encode(JSON.stringify(state));
  if (text.length > limit) {
    throw new Error("The panes have more than 1 MiB, which a link cannot carry. Shorten them, then share again.");
  }
  const deflated = await through(new CompressionStream("deflate"), text);
  const binary = Array.from(deflated, (byte) => String.fromCharCode(byte)).join("");
  return prefix + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// decode returns the state of a fragment, or null if there is no fragment. It throws an Error with a message for the user.
export async function decode(fragment) {
  if (fragment === "" || fragment === "#") {
    return null;
  }
  if (!fragment.startsWith(prefix)) {
    throw new Error("The link is not from this version of the playground: its fragment does not start with #v1=.");
  }
  let state;
  try {
    const binary = atob(fragment.slice(prefix.length).replaceAll("-", "+").replaceAll("_", "/"));
    const inflated = await through(new DecompressionStream("deflate"), Uint8Array.from(binary, (char) => char.charCodeAt(0)));
    state = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(inflated));
  } catch (error) {
    throw new Error("The link is damaged. Was it copied completely?", { cause: error });
  }
  if (!isState(state)) {
    throw new Error("The link does not have the panes of the playground.");
  }
  return state;
}

function isState(state) {
  return (
    hasValues(state?.panes, "string") &&
    Object.keys(state.panes).every((name) => panes.some((pane) => pane.name === name)) &&
    hasValues(state.featureGates, "boolean")
  );
}

function hasValues(map, type) {
  return typeof map === "object" && map !== null && !Array.isArray(map) && Object.values(map).every((value) => typeof value === type);
}

// through returns bytes as a stream transforms them. It throws if the result exceeds the limit or the input is damaged.
async function through(transform, bytes) {
  const chunks = [];
  let size = 0;
  for await (const chunk of chunksOf(new Blob([bytes]).stream().pipeThrough(transform))) {
    size += chunk.length;
    if (size > limit) {
      throw new Error("too large");
    }
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

// Not every browser can iterate over a stream.
async function* chunksOf(stream) {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      yield read.value;
    }
  } finally {
    await reader.cancel();
  }
}
