// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package evaluator evaluates what most policies consist of, several times faster than
// cel-go's interpreter: a checked expression is planned once, as Go closures that add
// up CEL cost on their way.
//
// It knows the part of CEL that it is certain of, and declines the rest: an expression when it
// is planned, or an evaluation that turns out to be unusual - one that meets an error, an
// optional, an unknown, a cancelled context, the cost limit. What is declined is evaluated by
// cel-go, from the start. Values and costs that this package returns therefore equal cel-go's,
// and all errors, their texts and their costs come from cel-go.
//
// One side effect outlives a declined evaluation: the first read of a policy's variable
// evaluates the variable and charges the budget. An evaluation therefore reads only variables
// that cel-go reads for the same expression, in the same order:
//
//   - Operands, arguments, elements and indexes are evaluated in cel-go's order, and those
//     that cel-go leaves out, such as the other branch of a conditional, are left out.
//   - Nothing more is evaluated after a part has declined, though cel-go may go on, as in
//     the second operand of ||.
//   - The cost of a part is added no later than cel-go adds it, and no variable is read
//     once the cost limit is exceeded, where cel-go ends the evaluation.
//
// The variables that a declined evaluation has read are a prefix of those that cel-go reads
// next, and cost nothing the second time.
package evaluator
