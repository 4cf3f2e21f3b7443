// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulelimit

import (
	"math"
	"math/bits"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// Multiply returns the product of two costs, or the highest cost if it overflows.
func Multiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

// Add returns the sum of two costs, or the highest cost if it overflows.
func Add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry > 0 {
		return math.MaxUint64
	}
	return sum
}

// MostInRequest returns how many values of a type an object has at most, because a request is limited in size.
// Kubernetes estimates the evaluations of validation rules below lists and maps without limits likewise.
func MostInRequest(t *apiservercel.DeclType) uint64 {
	const separator = 1
	return uint64(celconfig.MaxRequestSizeBytes / (max(t.MinSerializedSize, 0) + separator))
}
