// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyvalidation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	"celador.io/admission/validation"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/paramaccess"
)

// BindingDescriptor describes a kind of bindings, and the kind of the policies that they bind.
// ValidatingBindings and MutatingBindings are the two kinds.
type BindingDescriptor[Binding, Policy metav1.Object, Spec, PolicySpec policyspec.Spec] struct {
	policies       PolicyDescriptor[Policy, PolicySpec]
	spec           func(Binding) *Spec
	policyName     func(*Spec) string
	paramRef       func(*Spec) *v1.ParamRef
	validate       func(Binding) field.ErrorList
	validateUpdate func(binding, stored Binding) field.ErrorList
}

// ValidatingBindings describes the kind ValidatingAdmissionPolicyBinding.
var ValidatingBindings = BindingDescriptor[*v1.ValidatingAdmissionPolicyBinding, *v1.ValidatingAdmissionPolicy, v1.ValidatingAdmissionPolicyBindingSpec, v1.ValidatingAdmissionPolicySpec]{
	policies: ValidatingPolicies,
	spec: func(binding *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBindingSpec {
		return &binding.Spec
	},
	policyName:     func(spec *v1.ValidatingAdmissionPolicyBindingSpec) string { return spec.PolicyName },
	paramRef:       func(spec *v1.ValidatingAdmissionPolicyBindingSpec) *v1.ParamRef { return spec.ParamRef },
	validate:       validation.ValidateValidatingAdmissionPolicyBinding,
	validateUpdate: validation.ValidateValidatingAdmissionPolicyBindingUpdate,
}

// MutatingBindings describes the kind MutatingAdmissionPolicyBinding.
var MutatingBindings = BindingDescriptor[*v1.MutatingAdmissionPolicyBinding, *v1.MutatingAdmissionPolicy, v1.MutatingAdmissionPolicyBindingSpec, v1.MutatingAdmissionPolicySpec]{
	policies: MutatingPolicies,
	spec: func(binding *v1.MutatingAdmissionPolicyBinding) *v1.MutatingAdmissionPolicyBindingSpec {
		return &binding.Spec
	},
	policyName:     func(spec *v1.MutatingAdmissionPolicyBindingSpec) string { return spec.PolicyName },
	paramRef:       func(spec *v1.MutatingAdmissionPolicyBindingSpec) *v1.ParamRef { return spec.ParamRef },
	validate:       validation.ValidateMutatingAdmissionPolicyBinding,
	validateUpdate: validation.ValidateMutatingAdmissionPolicyBindingUpdate,
}

// Getter returns the policy with the given name. The caller must not change the policy. If there is
// no such policy, the error satisfies apierrors.IsNotFound.
type Getter[Policy metav1.Object] func(ctx context.Context, name string) (Policy, error)

// Validator returns the Validator of the bindings. If policyName changes, the bound policy must not
// be a Singleton. If any field of the spec changes, the user must be allowed by params to read the
// params that paramRef selects, because matchResources and validationActions determine who receives
// objects and messages that show the params. policies reads the bound policies. The Validator warns
// about a binding whose policy does not exist.
func (k BindingDescriptor[Binding, Policy, Spec, PolicySpec]) Validator(params paramaccess.Checker, policies Getter[Policy]) Validator[Binding] {
	paramKind := func(ctx context.Context, name string) (*v1.ParamKind, error) {
		policy, err := policies(ctx, name)
		if err != nil {
			return nil, err
		}
		return k.policies.paramKind(policy), nil
	}
	return Validator[Binding]{
		validate: k.validate, validateUpdate: k.validateUpdate,
		check: func(ctx context.Context, binding, stored Binding) field.ErrorList {
			spec, storedSpec := k.spec(binding), k.spec(stored)
			if equality.Semantic.DeepEqual(spec, storedSpec) {
				return nil
			}
			name := k.policyName(spec)
			if name != k.policyName(storedSpec) {
				if errs := k.rejectSingleton(ctx, name, policies); len(errs) > 0 {
					return errs
				}
			}
			return params.ValidateRef(ctx, k.paramRef(spec), name, paramKind)
		},
		warn: func(ctx context.Context, binding Binding) []string {
			name := k.policyName(k.spec(binding))
			if _, err := policies(ctx, name); apierrors.IsNotFound(err) {
				return []string{fmt.Sprintf("spec.policyName: %s %q does not exist, and the binding has no effect until it does", k.policies.kind, name)}
			}
			return nil
		},
	}
}

// rejectSingleton returns an error if the named policy is a Singleton, or cannot be read. It
// returns none if the policy does not exist, because a binding may name a policy that is created
// later.
func (k BindingDescriptor[Binding, Policy, Spec, PolicySpec]) rejectSingleton(ctx context.Context, name string, policies Getter[Policy]) field.ErrorList {
	if !k.policies.hasSingletons() {
		return nil
	}
	path := field.NewPath("spec", "policyName")
	switch policy, err := policies(ctx, name); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return field.ErrorList{field.InternalError(path, fmt.Errorf("reading policy %s to see whether it is a Singleton: %w", name, err))}
	case k.policies.TakesEffectAlone(policy):
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("policy %s is a Singleton, which takes effect without a binding", name))}
	}
	return nil
}
