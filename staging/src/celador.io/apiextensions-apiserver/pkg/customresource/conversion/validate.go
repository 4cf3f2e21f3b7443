// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import "k8s.io/apimachinery/pkg/util/validation/field"

// Validate checks the converters of a definition. path is the path of spec.conversion. old is the definition before an
// update, and nil on creation: rules that are in old as well may use functions that the compatibility version does not
// have, and may exceed the cost limits if the schemas have not changed either.
//
// Call it for the strategy ConversionRules only. The schemas must be valid. Warnings are about data that
// conversion loses.
func Validate(path *field.Path, d, old *Definition) (errs field.ErrorList, warnings []string) {
	return nil, nil
}
