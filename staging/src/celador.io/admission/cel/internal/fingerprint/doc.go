// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fingerprint finds values that change while evaluations keep or share them. Whoever keeps
// a value calls Kept, and Released when it drops the value. Between Begin and the end that Begin
// returns, which only tests call, each value is compared with its fingerprint when it is released,
// or at the end. Without Begin, Kept and Released do nothing.
package fingerprint
