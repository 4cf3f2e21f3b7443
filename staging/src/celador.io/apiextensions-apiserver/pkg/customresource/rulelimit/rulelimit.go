// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rulelimit holds the limits that conversion rules and default rules share.
package rulelimit

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/schemaexpression"
)

// MaxObjectCost bounds what the conversion of one object costs, and what the default rules of one
// object cost: as much as Kubernetes allows for the validation rules of an object. An expression
// ends when it has cost as much.
const MaxObjectCost = celconfig.RuntimeCELCostBudget

// MinEvaluationCost is the least cost that an evaluation counts with. Even a rule that returns a
// constant takes time for each value at its scope.
const MinEvaluationCost = 20

// typicalEntry is the size of a list item or map entry that estimates assume, in bytes.
const typicalEntry = 256

// objectSize returns the size of an object of a number of bytes.
func objectSize(bytes int64) schemaexpression.ObjectSize {
	return schemaexpression.ObjectSize{Entries: float64(bytes) / typicalEntry, Text: float64(bytes)}
}

var (
	// Typical is the size up to which the rules of a CustomResourceDefinition must stay within
	// MaxObjectCost. Rules without limits in the schema exceed MaxObjectCost for some size, because
	// requests may be large. A rule is refused only if it does so for an object 48 times smaller
	// than a request: then the largest object costs at least 48 times as much as it may, and 2,304
	// times with one loop in another.
	Typical = objectSize(celconfig.MaxRequestSizeBytes / 48)
	// Large is the size up to which the rules should stay within MaxObjectCost.
	Large = objectSize(growth * celconfig.MaxRequestSizeBytes / 48)
)

// growth is the number of typical objects in a large one.
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
