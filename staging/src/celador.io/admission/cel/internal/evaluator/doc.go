// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package evaluator evaluates checked CEL expressions several times faster than cel-go's
// interpreter. Plan turns an expression into Go closures once; Evaluate calls them, and they add up
// the CEL cost.
//
// The evaluator covers all functions and nearly all syntax, and declines everything else. Plan
// declines an expression
//
//   - in which two subexpressions have the same ID, because a macro repeats one
//   - with has() of an optional, or with has() or an optional selection of a field of a conditional
//   - that selects a field of a type of Go which its environment declares as an object
//   - that constructs an object, or names a type, that its scope does not know
//   - that reads all variables of a policy as one value, or, with a leading dot, a
//     name that a variable of a macro hides
//   - that cel-go does not plan, for example because a constant is not a valid pattern.
//
// Evaluate declines an evaluation that meets an error, an unknown, a cancelled context or the cost
// limit, or that iterates over an object with fields that its schema does not declare. The caller
// then evaluates the whole expression with cel-go. Values and costs that this package returns
// therefore equal cel-go's, and all errors come from cel-go.
//
// A declined evaluation has one lasting side effect: the first read of a policy's variable
// evaluates the variable and charges the cost budget. An evaluation therefore reads only variables
// that cel-go reads for the same expression, in the same order:
//
//   - Operands, arguments, elements and indexes are evaluated in cel-go's order. Operands that
//     cel-go skips, such as the other branch of a conditional, are skipped.
//   - After a subexpression has declined, no other is evaluated. cel-go may continue, for
//     example with the second operand of ||.
//   - The cost of a subexpression is added no later than cel-go adds it, and no variable is
//     read once the cost limit is exceeded, because cel-go ends the evaluation there.
//
// The variables that a declined evaluation has read are a prefix of those that cel-go reads next,
// and cost nothing the second time.
package evaluator
