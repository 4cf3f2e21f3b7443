// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typeerrors refuses policies whose expressions do not fit the types that they
// are applied to.
package typeerrors

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/celador/pkg/features"
)

// Check returns the type errors for which an otherwise valid policy is refused; P is its
// v1 type. It does not change the policy and is safe for concurrent use. A nil Check
// stands for none.
type Check[P any] func(*P) field.ErrorList

// Find returns what the check finds in a policy while its feature gate is on. Parts of the
// specs, the new and the stored one, have all that decides over errors: where they are
// equal there are none, as those may have come with another version of the server. On
// create the stored part is empty.
func Find[P, Part any](check Check[P], policy *P, part, stored Part) field.ErrorList {
	if check == nil || !utilfeature.DefaultFeatureGate.Enabled(features.AdmissionPolicyTypeEnforcement) {
		return nil
	}
	if equality.Semantic.DeepEqual(part, stored) {
		return nil
	}
	return check(policy)
}
