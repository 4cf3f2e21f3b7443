// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// checkPolicyType checks spec.policyType and what it rules out. Nothing but a
// binding could select the parameters of a Singleton.
func checkPolicyType(path *field.Path, spec, stored *v1.ValidatingAdmissionPolicySpec) field.ErrorList {
	kept := equality.Semantic.DeepEqual(spec.PolicyType, stored.PolicyType) && equality.Semantic.DeepEqual(spec.ParamKind, stored.ParamKind)
	return append(
		optional(path.Child("policyType"), spec.PolicyType, newly(oneOf(v1.SingletonPolicy), stored.PolicyType)),
		when(IsSingleton(spec) && spec.ParamKind != nil && !kept, field.Forbidden(path.Child("paramKind"),
			"a Singleton policy takes no parameters, as it has no binding to select them: remove paramKind or policyType"))...,
	)
}

// IsSingleton says whether the policy takes effect without a binding, as far as its spec
// is concerned; the feature gate is another matter.
func IsSingleton(spec *v1.ValidatingAdmissionPolicySpec) bool {
	return spec.PolicyType != nil && *spec.PolicyType == v1.SingletonPolicy
}
