// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typesize rejects expressions whose types are too large for cel-go's type checker.
//
// The checker treats the type of each subexpression as a tree: it copies, compares and prints it.
// The tree grows exponentially with the length of the expression if maps have the same type as keys
// and as values, as in
//
//	[0].map(a, {a: a}).map(a, {a: a}).map(a, {a: a})
//
// whose elements are of type map(map(map(int, int), map(int, int)), map(map(int, int), map(int,
// int))). Checking some twenty such calls occupies a server for hours.
//
// This package infers the types before the checker runs. It represents types as graphs that share
// equal parts, so inference is linear in the length of ordinary expressions. It does not report
// type errors. The inferred type of a subexpression of a well-typed expression is at least as large
// as the checker's.
//
// Check also finds optional entries of the type dyn, on which the checker panics.
package typesize
