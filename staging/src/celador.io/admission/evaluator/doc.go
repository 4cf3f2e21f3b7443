// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package evaluator evaluates what most policies consist of, several times faster than
// cel-go's interpreter: a checked expression is planned once, as Go closures that add
// up CEL cost on their way.
//
// It knows the part of CEL that it is certain of, and declines the rest: an expression
// when it is planned, or an evaluation that turns out to be unusual - one that meets an
// error, an optional, an unknown, a cancelled context, the cost limit. What is declined
// is for cel-go to evaluate, from the start. So a value and a cost that come from here are
// those that cel-go would have come to, and every error, its text and its cost, is cel-go's
// own.
//
// One side effect outlives a declined evaluation: the first read of a policy's variable
// evaluates the variable and charges the budget. Therefore an evaluation reads variables in
// the order in which cel-go's evaluation of the same expression reads them, and none that
// cel-go does not read:
//
//   - Operands, arguments, elements and indexes are evaluated in cel-go's order, and those
//     that cel-go leaves out, such as the other branch of a conditional, are left out.
//   - Nothing more is evaluated after a part has declined, though cel-go may go on, as in
//     the second operand of ||.
//   - The cost of a part is added no later than cel-go adds it, and no variable is read
//     once the cost limit is exceeded, where cel-go ends the evaluation.
//
// What was read is then a prefix of what cel-go goes on to read, and costs nothing twice.
package evaluator
