// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
)

const (
	// maxConverters bounds the converters of a CustomResourceDefinition.
	maxConverters = 100
	// maxAllRules bounds the rules and variables of all converters. Checking one takes about a
	// millisecond.
	maxAllRules = 2000

	// maxObjectCost bounds the cost of converting one object with all converters of a chain.
	maxObjectCost = rulelimit.MaxObjectCost
	// maxMatches bounds the values of one object at one scope. It bounds the memory that conversion
	// takes before rules cost anything.
	maxMatches = 100_000
)
