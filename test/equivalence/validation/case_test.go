// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	"celador.io/admission/validation"
)

// testCase holds an object, as a merge patch to a valid object, and the expected errors with their
// type, field and message.
type testCase struct {
	name  string
	patch string
	// old is the patch that results in the old object of an update. It is nil for a create.
	old *string

	// undefaulted is set if the object is validated without defaults, which no request is.
	undefaulted bool
	want        []string
}

// validator decodes an object and validates its creation, or its update if old is not nil.
type validator func(manifest, old []byte, defaults defaulting) (field.ErrorList, error)

// run validates each case. It compares the errors and their order with the expected errors, and
// with the errors of a stock kube-apiserver, except those in fields that Kubernetes does not have.
// stock is nil for cases that Kubernetes does not support.
func run(t *testing.T, base string, cases []testCase, ours, stock validator) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			manifest := patched(t, base, c.patch)
			var old []byte
			if c.old != nil {
				old = patched(t, base, *c.old)
			}
			got, err := ours(manifest, old, defaulting(!c.undefaulted))
			if err != nil {
				t.Fatalf("decoding %s: %v", manifest, err)
			}
			if diff := cmp.Diff(c.want, texts(got)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if stock == nil {
				return
			}
			expected, err := stock(manifest, old, defaulting(!c.undefaulted))
			if err != nil {
				t.Fatalf("decoding %s as stock types: %v", manifest, err)
			}
			if diff := diff(causes(expected), causes(shared(got))); diff != "" {
				t.Errorf("errors (-stock +got):\n%s", diff)
			}
		})
	}
}

func runPolicies(t *testing.T, cases []testCase) {
	t.Helper()
	run(t, validPolicy, cases, ourPolicy, stockPolicy)
}

func runBindings(t *testing.T, cases []testCase) {
	t.Helper()
	run(t, validBinding, cases, ourBinding, stockBinding)
}

func ourPolicy(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	policy, err := decodePolicy(manifest, defaults)
	if err != nil {
		return nil, err
	}
	if old == nil {
		return append(validation.ValidateValidatingAdmissionPolicy(policy), policyspec.DisabledExpressions(&policy.Spec, nil)...), nil
	}
	oldPolicy, err := decodePolicy(old, defaults)
	if err != nil {
		return nil, err
	}
	return validation.ValidateValidatingAdmissionPolicyUpdate(policy, oldPolicy), nil
}

func ourBinding(manifest, old []byte, defaults defaulting) (field.ErrorList, error) {
	binding, err := decodeBinding(manifest, defaults)
	if err != nil {
		return nil, err
	}
	if old == nil {
		return validation.ValidateValidatingAdmissionPolicyBinding(binding), nil
	}
	oldBinding, err := decodeBinding(old, defaults)
	if err != nil {
		return nil, err
	}
	return validation.ValidateValidatingAdmissionPolicyBindingUpdate(binding, oldBinding), nil
}

var ownFields = regexp.MustCompile(`^spec\.(policyType|bindingType|typeChecking|lookups.*|validations\[\d+\]\.(failurePolicy|fieldPath|scope.*))$|^status\.observedCustomResources`)

// shared returns the errors in fields that Kubernetes has, too.
func shared(errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(slices.Clone(errs), func(err *field.Error) bool {
		return ownFields.MatchString(err.Field) || err.Field == "spec.paramKind" && err.Type == field.ErrorTypeForbidden
	})
}

// texts returns the errors in the form of the message of a Status.
func texts(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

// causes returns the errors in the form of the causes of a Status.
func causes(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, string(err.Type)+" "+err.Field+" "+err.ErrorBody())
	}
	return all
}
