// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"celador.io/admission/defaults"
	"celador.io/api/admissionregistration/v1"
)

// SchemeGroupVersion is the group and version that AddToScheme registers.
var SchemeGroupVersion = v1.SchemeGroupVersion

var (
	localSchemeBuilder = &v1.SchemeBuilder
	// AddToScheme registers the kinds of v1 with their conversions and defaults.
	AddToScheme = localSchemeBuilder.AddToScheme
)

func init() {
	localSchemeBuilder.Register(defaults.RegisterDefaults)
}
