// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"celador.io/api/admissionregistration/v1alpha1"
)

// SchemeGroupVersion is the group and version that AddToScheme registers.
var SchemeGroupVersion = v1alpha1.SchemeGroupVersion

var (
	localSchemeBuilder = &v1alpha1.SchemeBuilder
	// AddToScheme registers the kinds of v1alpha1 with their conversions and defaults.
	AddToScheme = localSchemeBuilder.AddToScheme
)

func init() {
	localSchemeBuilder.Register(RegisterDefaults)
}
