// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// examples returns the examples of the server: name, title, panes and feature gates of each.
export function examples() {
  return call("/api/examples");
}

// evaluate returns what the server answers to a state of the page. A signal aborts the request.
export function evaluate(state, signal) {
  return call("/api/evaluate", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(state),
    signal,
  });
}

// A BusyError says that the server answers the same request later.
export class BusyError extends Error {}

// call throws an Error with a message for the user. The message does not matter if a signal aborts the request.
async function call(path, options) {
  let response;
  let answer;
  try {
    response = await fetch(path, options);
    answer = await response.json();
  } catch (error) {
    throw new Error("The server does not answer. Is celador playground still running?", { cause: error });
  }
  if (response.status === 429) {
    throw new BusyError(`${answer.message}. The page tries again by itself.`);
  }
  if (!response.ok) {
    throw new Error(answer.message || `The server answers with status ${response.status}.`);
  }
  return answer;
}
