// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicybinding

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/features"
)

// checkPolicy returns an error when the binding names a Singleton, which needs no
// binding. It may name a policy that does not exist yet.
func (s Strategy) checkPolicy(ctx context.Context, name string) field.ErrorList {
	if !utilfeature.DefaultFeatureGate.Enabled(features.ValidatingAdmissionPolicySingleton) {
		return nil
	}
	path := field.NewPath("spec", "policyName")
	switch policy, err := s.policies(ctx, name); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return field.ErrorList{field.InternalError(path, fmt.Errorf("reading policy %s to see whether it is a Singleton: %w", name, err))}
	case validation.IsSingleton(policy):
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("policy %s is a Singleton, which takes effect without a binding", name))}
	}
	return nil
}
