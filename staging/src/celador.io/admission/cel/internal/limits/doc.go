// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package limits bounds the memory and the work of CEL expressions where their cost does not.
//
// CEL charges one unit for adding two values of dynamic type, for comparing two lists of two
// elements each, and for adding two quantities, whatever the size of the operands. Without further
// limits, a chain of variables that each concatenate a string with itself doubles the string for a
// few units each; comparing lists that contain the same list twice takes exponential time; and a
// quantity with a large exponent fills the memory with zeros.
//
// The exported constants are the limits. A Guard checks the arguments of one function before the
// function is called: Before returns an error for a call that would exceed a limit. All other calls
// have the values, costs and errors of cel-go, because guards do not replace the implementations of
// functions. WithIterations bounds the time that cel-go takes to count costs.
package limits
