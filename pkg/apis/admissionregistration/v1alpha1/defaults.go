// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// SetDefaults_ParamRef sets parameterNotFoundAction to Deny. Later versions require the field.
func SetDefaults_ParamRef(ref *v1.ParamRef) {
	if ref.ParameterNotFoundAction == nil {
		ref.ParameterNotFoundAction = new(v1.DenyAction)
	}
}
