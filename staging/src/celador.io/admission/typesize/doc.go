// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typesize finds expressions whose types are too large to be checked.
//
// cel-go's checker treats the type of each part of an expression as a tree: it copies, compares
// and prints it. The tree grows exponentially with the length of the expression if maps have
// the same type as keys and as values, as in
//
//	[0].map(a, {a: a}).map(a, {a: a}).map(a, {a: a})
//
// whose elements are of type map(map(map(int, int), map(int, int)), map(map(int, int), map(int,
// int))). Some twenty such calls occupy a server for hours.
//
// This package infers the types before the checker runs. It represents types as graphs that
// share equal parts, so inference is linear in the length of ordinary expressions. It does not
// report type errors. In a well-typed expression, no part has a larger type than the one that
// this package infers.
package typesize
