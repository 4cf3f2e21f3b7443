// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// checkTypeCheckingMode checks spec.typeChecking.
func checkTypeCheckingMode(path *field.Path, mode, stored *v1.TypeCheckingMode) field.ErrorList {
	return optional(path, mode, newly(oneOf(v1.EnforcedTypeChecking, v1.InformationalTypeChecking), stored))
}
