// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// SetDefaults_ParamRef fails closed when no parameter is found. Only the alpha
// version has this default; later versions require the field.
func SetDefaults_ParamRef(ref *v1.ParamRef) {
	if ref.ParameterNotFoundAction == nil {
		ref.ParameterNotFoundAction = new(v1.DenyAction)
	}
}
