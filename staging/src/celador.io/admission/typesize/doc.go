// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typesize finds expressions whose types are too large to be checked.
//
// cel-go's checker treats the type of each part of an expression as a tree: it copies, compares
// and prints it. The size of such a tree is exponential in the length of the expression where
// maps have the same type in their keys and their values, as in
//
//	[0].map(a, {a: a}).map(a, {a: a}).map(a, {a: a})
//
// whose elements are of type map(map(map(int, int), map(int, int)), map(map(int, int),
// map(int, int))). Some twenty of these occupy a server for hours.
//
// This package infers types ahead of the checker, as graphs in which equal parts are one, in time
// that is linear in the length of ordinary expressions. It does not report type errors. Where an
// expression is well-typed, no part has a larger type than the one inferred here.
package typesize
