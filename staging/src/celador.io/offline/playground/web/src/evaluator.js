// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

import { BusyError, evaluate } from "./api.js";

// delay is the time in milliseconds between the last change and its evaluation, so that not every key is evaluated.
const delay = 250;

// The time in milliseconds until the next attempt while the server is busy. It doubles with each attempt up to the longest.
const firstRetry = 500;
const longestRetry = 8000;

// An Evaluator evaluates the latest state. It aborts the evaluation of an older one, and never reports its answer.
export class Evaluator {
  #timer;
  #request = new AbortController();

  // onStart is called before an evaluation, onAnswer with its answer, onFailure with an Error instead if there is none. While
  // the server is busy, onFailure is called after each attempt.
  constructor({ onStart, onAnswer, onFailure }) {
    Object.assign(this, { onStart, onAnswer, onFailure });
  }

  // schedule evaluates what state returns after the delay, unless it is called again before. Errors of state are failures.
  schedule(state) {
    clearTimeout(this.#timer);
    this.#request.abort();
    this.#request = new AbortController();
    this.onStart();
    this.#timer = setTimeout(() => this.#run(state, this.#request.signal), delay);
  }

  async #run(state, signal, retry = firstRetry) {
    try {
      const answer = await evaluate(state(), signal);
      if (!signal.aborted) {
        this.onAnswer(answer);
      }
    } catch (error) {
      if (!signal.aborted) {
        this.onFailure(error);
        if (error instanceof BusyError) {
          this.#timer = setTimeout(() => this.#run(state, signal, Math.min(2 * retry, longestRetry)), retry);
        }
      }
    }
  }
}
