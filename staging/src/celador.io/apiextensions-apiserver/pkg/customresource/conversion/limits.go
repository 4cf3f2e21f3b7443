// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
)

const (
	// maxConverters bounds the converters of a CustomResourceDefinition.
	maxConverters = 100
	// maxAllRules bounds the rules and variables of all converters. Checking one takes about a millisecond.
	maxAllRules = 2000

	// maxRuleCost bounds the estimated cost of a rule for all values that one object has at its scope.
	maxRuleCost = validation.StaticEstimatedCostLimit
	// maxConverterCost bounds the estimated cost of all rules of a converter.
	maxConverterCost = validation.StaticEstimatedCRDCostLimit
	// maxObjectCost bounds the cost of converting one object with all converters of a chain.
	maxObjectCost = 1_000_000
	// minEvaluationCost is what an evaluation costs at least: a constant rule costs time for each value at its scope, too.
	minEvaluationCost = 1
	// maxMatches bounds the values of one object at one scope. It bounds the memory that conversion takes before
	// rules cost anything.
	maxMatches = 100_000
)

// excess says how much a cost exceeds a limit, with the figures that Kubernetes shows for validation rules.
func excess(what string, cost, limit uint64) string {
	factor := float64(cost) / float64(limit)
	text := fmt.Sprintf("%.1fx", factor)
	switch {
	case factor > 100:
		text = "more than 100x"
	case factor < 1.5:
		text = fmt.Sprintf("%fx", factor)
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s", what, text)
}
