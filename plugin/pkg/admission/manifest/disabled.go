// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
)

// Disabled returns the error for a field whose feature gate is off. The API drops such a field and
// returns the object without it; the author of a file gets no such response.
func Disabled(path *field.Path, gate featuregate.Feature) *field.Error {
	return field.Forbidden(path, fmt.Sprintf("requires the %s feature gate to be enabled", gate))
}
