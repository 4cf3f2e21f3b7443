// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package evaluator evaluates what most policies consist of, several times faster than
// cel-go's interpreter: a checked expression is planned once, as Go closures that add
// up CEL cost on their way.
//
// It knows the part of CEL that it is certain of, and declines the rest: an expression
// when it is planned, or an evaluation that turns out to be unusual - one that meets an
// error, an optional, an unknown, a cancelled context, the cost limit. What is declined
// is for cel-go to evaluate, from the start; evaluating has no side effects. So a value
// and a cost that come from here are those that cel-go would have come to, and every
// error, its text and its cost, is cel-go's own.
package evaluator
