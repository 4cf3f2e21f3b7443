// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	"celador.io/admission/validation"
	v1 "celador.io/api/admissionregistration/v1"
)

func runMutatingPolicies(t *testing.T, cases []testCase) {
	t.Helper()
	run(t, validMutatingPolicy, cases, ourMutatingPolicy, stockMutatingPolicy)
}

// runInlinePolicies runs cases with fields that Kubernetes does not have.
func runInlinePolicies(t *testing.T, cases []testCase) {
	t.Helper()
	run(t, validMutatingPolicy, cases, ourInlinePolicy, nil)
}

func runMutatingBindings(t *testing.T, cases []testCase) {
	t.Helper()
	run(t, validMutatingBinding, cases, ourMutatingBinding, stockMutatingBinding)
}

// ourMutatingPolicy validates a mutating policy without the feature of inline expressions.
func ourMutatingPolicy(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	stock := func(m v1.Mutation) v1.Mutation {
		return v1.Mutation{PatchType: m.PatchType, ApplyConfiguration: m.ApplyConfiguration, JSONPatch: m.JSONPatch}
	}
	return ourMutatingErrors(manifest, old, defaults, nil, stock)
}

func ourInlinePolicy(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	return ourMutatingErrors(manifest, old, defaults, policyspec.Features{policyspec.InlineExpressions: true}, func(m v1.Mutation) v1.Mutation { return m })
}

// ourMutatingErrors validates a policy whose mutations are converted first.
func ourMutatingErrors(manifest, old []byte, defaults defaulting, features policyspec.Features, convert func(v1.Mutation) v1.Mutation) (field.ErrorList, error) {
	policy, err := decodeMutatingPolicy(manifest, defaults)
	if err != nil {
		return nil, err
	}
	for i, m := range policy.Spec.Mutations {
		policy.Spec.Mutations[i] = convert(m)
	}
	if old == nil {
		return validation.ValidateMutatingAdmissionPolicy(policy, features), nil
	}
	oldPolicy, err := decodeMutatingPolicy(old, defaults)
	if err != nil {
		return nil, err
	}
	for i, m := range oldPolicy.Spec.Mutations {
		oldPolicy.Spec.Mutations[i] = convert(m)
	}
	return validation.ValidateMutatingAdmissionPolicyUpdate(policy, oldPolicy, features), nil
}

func ourMutatingBinding(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	binding, err := decodeMutatingBinding(manifest, defaults)
	if err != nil {
		return nil, err
	}
	if old == nil {
		return validation.ValidateMutatingAdmissionPolicyBinding(binding), nil
	}
	oldBinding, err := decodeMutatingBinding(old, defaults)
	if err != nil {
		return nil, err
	}
	return validation.ValidateMutatingAdmissionPolicyBindingUpdate(binding, oldBinding), nil
}
