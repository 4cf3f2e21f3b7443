// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package limits bounds the memory and the work of CEL expressions where their cost does not.
//
// CEL charges one unit for adding two values whose type is only known at run time, for comparing two
// lists of two elements each, and for adding two quantities, whatever these values consist of. A chain of
// variables that adds each to itself doubles a string at a cost of a few units; lists that hold the same list
// twice are compared in exponential time; a quantity with a large exponent fills the memory with zeros.
//
// The constants of this package are all limits. Before turns a call that would exceed one into an error
// before anything is computed. Values, costs and errors of all other calls are those of cel-go: this package
// examines arguments and results, and leaves calls to the implementations of the environment.
package limits
