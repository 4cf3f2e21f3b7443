// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// A draft is what the user has written: the texts of the panes and of the feature gates, usable or not. It belongs to the address of the page. The
// tab keeps one draft when it loads the page again.
const key = "celador-playground-draft";

// keep keeps a draft, and reports whether the browser can.
export function keep(panes, gates) {
  try {
    sessionStorage.setItem(key, JSON.stringify({ hash: location.hash, panes, gates }));
    return true;
  } catch {
    return false; // too large, or the user allows no storage
  }
}

// kept returns the draft of this address, or null.
export function kept() {
  try {
    const draft = JSON.parse(sessionStorage.getItem(key));
    return draft?.hash === location.hash && typeof draft.panes === "object" && typeof draft.gates === "string" ? draft : null;
  } catch {
    return null;
  }
}

// forget removes the draft.
export function forget() {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // The browser keeps none.
  }
}
