// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/policyspec"
	"celador.io/admission/validation"

	"celador.io/apiserver/pkg/admission/plugin/manifest"
	"celador.io/apiserver/pkg/admission/typechecks"
)

type (
	policy  = *v1.ValidatingAdmissionPolicy
	binding = *v1.ValidatingAdmissionPolicyBinding
)

// newLoader returns a loader of manifest files whose objects may use the given features and must
// pass the type checks.
func newLoader(features policyspec.Features, types *typechecks.Validator) *manifest.Loader[policy, binding] {
	return &manifest.Loader[policy, binding]{
		Policies: manifest.Descriptor[policy]{
			Name:  "ValidatingAdmissionPolicy",
			Items: manifest.Items(func(list *v1.ValidatingAdmissionPolicyList) []v1.ValidatingAdmissionPolicy { return list.Items }),
			Validate: func(p policy) field.ErrorList {
				errs := append(validation.ValidateValidatingAdmissionPolicy(p), policyspec.Disabled(&p.Spec, features)...)
				errs = append(errs, manifest.ForbidLookups(p.Spec.Lookups)...)
				if len(errs) > 0 {
					return errs
				}
				return types.Validating(p)
			},
			HasParams: func(p policy) bool { return p.Spec.ParamKind != nil },
		},
		Bindings: manifest.Descriptor[binding]{
			Name: "ValidatingAdmissionPolicyBinding",
			Items: manifest.Items(func(list *v1.ValidatingAdmissionPolicyBindingList) []v1.ValidatingAdmissionPolicyBinding {
				return list.Items
			}),
			Validate: func(b binding) field.ErrorList {
				// Kubernetes reports missing fields of bindings in files as it does for an update
				// of a binding that lacks them, too. So this validates an update of an empty
				// binding.
				errs := validation.ValidateValidatingAdmissionPolicyBindingUpdate(b, &v1.ValidatingAdmissionPolicyBinding{})
				return append(errs, policyspec.Disabled(&b.Spec, features)...)
			},
			HasParams: func(b binding) bool { return b.Spec.ParamRef != nil },
		},
		PolicyName:  func(b binding) string { return b.Spec.PolicyName },
		IsSingleton: func(p policy) bool { return policyspec.IsSingleton(p.Spec.PolicyType) },
	}
}
