// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package staticname keeps the names apart that belong to admission configuration
// from manifest files on the server's disk. Such names end in ".static.k8s.io".
package staticname

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/apis/admissionregistration/validation"
)

// Validate returns an error when feature gate ManifestBasedAdmissionControlConfig
// reserves the name of a new object.
func Validate(name string) field.ErrorList {
	if !reserved() {
		return nil
	}
	return validation.ValidateStaticSuffix(name, field.NewPath("metadata", "name"))
}

// WarningsOnCreate returns a warning when a new object gets a name that the gate
// would reserve if it were on.
func WarningsOnCreate(name string) []string {
	if reserved() {
		return nil
	}
	return validation.WarningsForStaticSuffix(name)
}

// WarningsOnUpdate returns a warning when an existing object has such a name,
// whatever the gate says.
func WarningsOnUpdate(name string) []string {
	return validation.WarningsForStaticSuffix(name)
}

func reserved() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.ManifestBasedAdmissionControlConfig)
}
