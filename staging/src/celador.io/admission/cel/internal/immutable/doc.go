// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package immutable makes the values of CEL expressions immutable, all the way down, so that
// evaluations may keep and share them: a policy keeps the values of its variables, the policies of
// a request share results, views cache their parts, and all evaluations of a program share its
// constants.
//
// Values of cel-go and of Kubernetes' libraries are not immutable by themselves. Bytes.Add appends
// into the spare capacity of its receiver, a comparison converts a quantity in place, and an empty
// list that optMap() binds grows when an expression adds to it. Two rules make up for that:
//
//   - No function of an expression changes an argument. Function replaces the functions that would,
//     for the evaluator and for cel-go's programs alike. The only exception is the accumulator of a
//     comprehension, which no expression can name: its step appends in place (Append).
//   - Only values of the kinds that Keep lists are kept for other policies. A value of any other
//     kind is evaluated anew.
//
// In tests, celtest.CheckKept finds values that change while they are kept.
package immutable
