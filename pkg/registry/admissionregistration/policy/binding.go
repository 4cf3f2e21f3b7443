// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
)

// BindingDescriptor describes a kind of bindings: Binding is a pointer to its internal type, Policy
// one to the internal type of the policies that it binds, and Spec is the spec of the bindings.
// ValidatingBinding and MutatingBinding are the two kinds.
type BindingDescriptor[Binding, Policy Object, Spec policyspec.Spec] struct {
	descriptor[Binding, Spec]
	// policyKind is the kind of the policies.
	policyKind string
	policyName func(Binding) string
	paramRef   func(Binding) *v1.ParamRef
	paramKind  func(Policy) *v1.ParamKind
	// isSingleton reports whether a policy is a Singleton, if the feature is enabled. It is nil if
	// no policy of the kind can be one.
	isSingleton func(Policy) bool
}

// Getter returns the policy with the given name, which the caller must not change. If there is no
// such policy, the error satisfies apierrors.IsNotFound.
type Getter[Policy Object] func(ctx context.Context, name string) (Policy, error)

// NewBindingREST returns the storage of a kind of bindings, which can serve every version of the
// API group. The codec of getter must decode to the internal type. Tables show whether the policy
// of a binding is in all. See NewBindingStrategy for params and policies. NewBindingREST returns
// the errors of getter and of connecting to etcd.
func NewBindingREST[Binding, Policy Object, Spec policyspec.Spec](descriptor BindingDescriptor[Binding, Policy, Spec], getter generic.RESTOptionsGetter, params paramaccess.Checker, policies Getter[Policy], all Lister) (*REST, error) {
	return newREST(NewBindingStrategy(descriptor, params, policies), getter, descriptor.policyFoundColumn(all))
}

// NewBindingStrategy returns the Strategy for a kind of bindings. If policyName changes, the bound
// policy must not be a Singleton. If any field of the spec changes, the user must be allowed by
// params to read the params that paramRef selects, because matchResources and validationActions
// determine who receives objects and messages that show the params. policies reads the bound
// policies. The Strategy warns about a binding whose policy does not exist.
func NewBindingStrategy[Binding, Policy Object, Spec policyspec.Spec](descriptor BindingDescriptor[Binding, Policy, Spec], params paramaccess.Checker, policies Getter[Policy]) Strategy[Binding, Spec] {
	paramKind := func(ctx context.Context, name string) (*v1.ParamKind, error) {
		policy, err := policies(ctx, name)
		if err != nil {
			return nil, err
		}
		return descriptor.paramKind(policy), nil
	}
	return newStrategy(descriptor.descriptor, func(ctx context.Context, binding, stored Binding) field.ErrorList {
		if equality.Semantic.DeepEqual(descriptor.spec(binding), descriptor.spec(stored)) {
			return nil
		}
		name := descriptor.policyName(binding)
		if name != descriptor.policyName(stored) {
			if errs := descriptor.rejectSingleton(ctx, name, policies); len(errs) > 0 {
				return errs
			}
		}
		return params.ValidateRef(ctx, descriptor.paramRef(binding), name, paramKind)
	}, func(ctx context.Context, binding Binding) []string {
		if _, err := policies(ctx, descriptor.policyName(binding)); apierrors.IsNotFound(err) {
			return []string{fmt.Sprintf("spec.policyName: %s %q does not exist, and the binding has no effect until it does", descriptor.policyKind, descriptor.policyName(binding))}
		}
		return nil
	})
}

// hasSingletons reports whether a policy of the kind can take effect without a binding.
func (k BindingDescriptor[Binding, Policy, Spec]) hasSingletons() bool {
	return k.isSingleton != nil && utilfeature.DefaultFeatureGate.Enabled(features.ValidatingAdmissionPolicySingleton)
}

// takesEffectAlone reports whether a policy takes effect without a binding.
func (k BindingDescriptor[Binding, Policy, Spec]) takesEffectAlone(policy Policy) bool {
	return k.hasSingletons() && k.isSingleton(policy)
}

// rejectSingleton returns an error if the named policy is a Singleton. A binding may name a policy
// that does not exist yet.
func (k BindingDescriptor[Binding, Policy, Spec]) rejectSingleton(ctx context.Context, name string, policies Getter[Policy]) field.ErrorList {
	if !k.hasSingletons() {
		return nil
	}
	path := field.NewPath("spec", "policyName")
	switch policy, err := policies(ctx, name); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return field.ErrorList{field.InternalError(path, fmt.Errorf("reading policy %s to see whether it is a Singleton: %w", name, err))}
	case k.takesEffectAlone(policy):
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("policy %s is a Singleton, which takes effect without a binding", name))}
	}
	return nil
}
