// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/generic"

	"celador.io/admission/policyspec"
	"celador.io/apiserver/pkg/admission/paramaccess"
	"celador.io/apiserver/pkg/admission/policyvalidation"
)

// BindingDescriptor describes a kind of bindings: Binding is a pointer to its internal type, Policy
// one to the internal type of the policies that it binds. External and ExternalPolicy are pointers
// to their v1 types. ValidatingBinding and MutatingBinding are the two kinds.
type BindingDescriptor[Binding, Policy APIObject, Spec, PolicySpec policyspec.Spec, External, ExternalPolicy metav1.Object] struct {
	descriptor[Binding, Spec, External]
	bindings   policyvalidation.BindingDescriptor[External, ExternalPolicy, Spec, PolicySpec]
	policies   policyvalidation.PolicyDescriptor[ExternalPolicy, PolicySpec]
	policy     func(Policy) ExternalPolicy
	policyName func(Binding) string
}

// NewBindingREST returns the storage of a kind of bindings, which can serve every version of the
// API group. The codec of getter must decode to the internal type. all lists the policies, so that
// tables show whether the policy of a binding exists. See NewBindingStrategy for params and
// policies. NewBindingREST returns the errors of getter and of connecting to etcd.
func NewBindingREST[Binding, Policy APIObject, Spec, PolicySpec policyspec.Spec, External, ExternalPolicy metav1.Object](descriptor BindingDescriptor[Binding, Policy, Spec, PolicySpec, External, ExternalPolicy], getter generic.RESTOptionsGetter, params paramaccess.Checker, policies policyvalidation.Getter[Policy], all ListerGetter) (*REST, error) {
	return newREST(NewBindingStrategy(descriptor, params, policies), getter, descriptor.policyFoundColumn(all))
}

// NewBindingStrategy returns the Strategy for a kind of bindings. Its validator is that of
// policyvalidation.BindingDescriptor, whose Check needs params and policies: params checks whether
// the user may read the params of a binding, and policies reads the policy that it binds.
func NewBindingStrategy[Binding, Policy APIObject, Spec, PolicySpec policyspec.Spec, External, ExternalPolicy metav1.Object](descriptor BindingDescriptor[Binding, Policy, Spec, PolicySpec, External, ExternalPolicy], params paramaccess.Checker, policies policyvalidation.Getter[Policy]) Strategy[Binding, Spec, External] {
	return newStrategy(descriptor.descriptor, descriptor.bindings.Validator(params, func(ctx context.Context, name string) (external ExternalPolicy, err error) {
		policy, err := policies(ctx, name)
		if err != nil {
			return external, err
		}
		return descriptor.policy(policy), nil
	}))
}
