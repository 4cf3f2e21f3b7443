// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rulelimit holds the limits that conversion rules and default rules share.
package rulelimit

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/schemaexpression"
)

// MaxObjectCost bounds the cost of converting one object, and the cost of the default rules of one
// object. It is what Kubernetes allows for the validation rules of an object. An expression that
// reaches the bound ends with an error.
const MaxObjectCost = celconfig.RuntimeCELCostBudget

// MinEvaluationCost is charged for an evaluation that costs less. Even a rule that returns a
// constant takes time for each value at its scope.
const MinEvaluationCost = 20

// typicalEntry is the size of a list item or map entry that estimates assume, in bytes.
const typicalEntry = 256

// objectSize returns the size of an object whose JSON has the given number of bytes.
func objectSize(bytes int64) schemaexpression.ObjectSize {
	return schemaexpression.ObjectSize{Entries: float64(bytes) / typicalEntry, Text: float64(bytes)}
}

var (
	// Typical is the size of object for which the rules of a CustomResourceDefinition must stay
	// within MaxObjectCost, or they are refused. It is a 48th of the largest request, not all of
	// it: if the schema has no limits, rules exceed MaxObjectCost for some size anyway. A rule that
	// is refused then costs at least 48 times MaxObjectCost for the largest object, and 2,304 times
	// with one loop in another.
	Typical = objectSize(celconfig.MaxRequestSizeBytes / 48)
	// Large is the size of object for which MayExceed looks at the cost of an accepted rule. If
	// MayExceed is true for a conversion rule, the server returns a warning.
	Large = objectSize(growth * celconfig.MaxRequestSizeBytes / 48)
)

// growth is the size of a large object as a multiple of a typical one.
const growth = 4

const (
	// MaxRules bounds the rules of a converter, and the default rules of a version.
	MaxRules = 500
	// MaxRuleLength bounds the length of an expression in bytes, as for CEL selectors of devices in
	// Kubernetes.
	MaxRuleLength = 10 * 1024
	// MaxPathLength bounds the lengths of scope and field in bytes.
	MaxPathLength = 1024
)

// CheckLength returns an error if a text is longer than a limit in bytes.
func CheckLength(path *field.Path, text string, limit int) field.ErrorList {
	if len(text) <= limit {
		return nil
	}
	return field.ErrorList{field.TooLong(path, "", limit)}
}
