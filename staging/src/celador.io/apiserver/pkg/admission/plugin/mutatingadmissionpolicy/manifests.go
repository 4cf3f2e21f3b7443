// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/policyspec"
	"celador.io/admission/validation"

	"celador.io/apiserver/pkg/admission/plugin/manifest"
	"celador.io/apiserver/pkg/admission/typechecks"
)

type (
	policy  = *v1.MutatingAdmissionPolicy
	binding = *v1.MutatingAdmissionPolicyBinding
)

// newLoader returns a loader of manifest files whose objects may use the given features and must
// pass the type checks.
func newLoader(features policyspec.Features, types *typechecks.Validator) *manifest.Loader[policy, binding] {
	return &manifest.Loader[policy, binding]{
		Policies: manifest.Descriptor[policy]{
			Name:  "MutatingAdmissionPolicy",
			Items: manifest.Items(func(list *v1.MutatingAdmissionPolicyList) []v1.MutatingAdmissionPolicy { return list.Items }),
			Validate: func(p policy) field.ErrorList {
				// Validation accepts all patch types here. Those whose feature is off have been
				// rejected by Disabled, with the name of the field.
				errs := validation.ValidateMutatingAdmissionPolicy(p, policyspec.Features{policyspec.InlineExpressions: true})
				errs = append(errs, policyspec.Disabled(&p.Spec, features)...)
				errs = append(errs, manifest.ForbidLookups(p.Spec.Lookups)...)
				if len(errs) > 0 {
					return errs
				}
				return types.Mutating(p)
			},
			HasParams: func(p policy) bool { return p.Spec.ParamKind != nil },
		},
		Bindings: manifest.Descriptor[binding]{
			Name: "MutatingAdmissionPolicyBinding",
			Items: manifest.Items(func(list *v1.MutatingAdmissionPolicyBindingList) []v1.MutatingAdmissionPolicyBinding {
				return list.Items
			}),
			Validate: func(b binding) field.ErrorList {
				return append(validation.ValidateMutatingAdmissionPolicyBinding(b), policyspec.Disabled(&b.Spec, features)...)
			},
			HasParams: func(b binding) bool { return b.Spec.ParamRef != nil },
		},
		PolicyName:  func(b binding) string { return b.Spec.PolicyName },
		IsSingleton: func(p policy) bool { return policyspec.IsSingleton(p.Spec.PolicyType) },
	}
}
