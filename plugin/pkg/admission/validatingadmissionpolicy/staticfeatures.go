// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/validating"

	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/features"
)

// The API drops fields whose feature gate is off. Whoever writes a file gets no answer
// from which to see that, so there they are errors.

func disabledInPolicy(enabled validating.Features, spec *v1.ValidatingAdmissionPolicySpec) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if spec.PolicyType != nil && !enabled.Singleton {
		errs = append(errs, disabled(path.Child("policyType"), features.ValidatingAdmissionPolicySingleton))
	}
	if spec.TypeChecking != nil && !enabled.TypeEnforcement {
		errs = append(errs, disabled(path.Child("typeChecking"), features.AdmissionPolicyTypeEnforcement))
	}
	for i := range spec.Validations {
		if spec.Validations[i].FailurePolicy != nil && !enabled.ValidationFailurePolicy {
			errs = append(errs, disabled(path.Child("validations").Index(i).Child("failurePolicy"), features.ValidatingAdmissionPolicyValidationFailurePolicy))
		}
	}
	return errs
}

func disabledInBinding(enabled validating.Features, spec *v1.ValidatingAdmissionPolicyBindingSpec) field.ErrorList {
	if spec.BindingType != nil && !enabled.FallbackBinding {
		return field.ErrorList{disabled(field.NewPath("spec", "bindingType"), features.ValidatingAdmissionPolicyFallbackBinding)}
	}
	return nil
}

func disabled(path *field.Path, gate featuregate.Feature) *field.Error {
	return field.Forbidden(path, fmt.Sprintf("requires the %s feature gate to be enabled", gate))
}

// checkSingletons returns an error when a binding names a policy that takes effect
// without one.
func checkSingletons(objects staticObjects) error {
	singletons := map[string]bool{}
	for _, p := range objects.Policies {
		singletons[p.Name] = validation.IsSingleton(&p.Spec)
	}
	for _, b := range objects.Bindings {
		if singletons[b.Spec.PolicyName] {
			return fmt.Errorf("binding %q: spec.policyName %q is a Singleton, which takes effect without a binding", b.Name, b.Spec.PolicyName)
		}
	}
	return nil
}
