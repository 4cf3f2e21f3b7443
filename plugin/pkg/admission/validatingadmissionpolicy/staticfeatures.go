// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/validating"

	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/features"
	"celador.io/celador/plugin/pkg/admission/manifest"
)

func disabledInPolicy(enabled validating.Features, spec *v1.ValidatingAdmissionPolicySpec) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if spec.PolicyType != nil && !enabled.Singleton {
		errs = append(errs, manifest.Disabled(path.Child("policyType"), features.ValidatingAdmissionPolicySingleton))
	}
	if spec.TypeChecking != nil && !enabled.TypeEnforcement {
		errs = append(errs, manifest.Disabled(path.Child("typeChecking"), features.AdmissionPolicyTypeEnforcement))
	}
	for i := range spec.Validations {
		if spec.Validations[i].FailurePolicy != nil && !enabled.ValidationFailurePolicy {
			errs = append(errs, manifest.Disabled(path.Child("validations").Index(i).Child("failurePolicy"), features.ValidatingAdmissionPolicyValidationFailurePolicy))
		}
	}
	return errs
}

func disabledInBinding(enabled validating.Features, spec *v1.ValidatingAdmissionPolicyBindingSpec) field.ErrorList {
	if spec.BindingType != nil && !enabled.FallbackBinding {
		return field.ErrorList{manifest.Disabled(field.NewPath("spec", "bindingType"), features.ValidatingAdmissionPolicyFallbackBinding)}
	}
	return nil
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
