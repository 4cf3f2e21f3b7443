// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/validation"
)

// testCase is an object, told by a merge patch to a valid one, and the errors that
// are expected for it: type, field and message in the words clients see.
type testCase struct {
	name  string
	patch string
	// old makes the case an update of what this patch gives.
	old *string

	// undefaulted objects are not given defaults. Requests never bring such.
	undefaulted bool
	want        []string
}

// validator decodes an object and validates its creation, or its update when there
// is an old object.
type validator func(manifest, old []byte, defaults defaulting) (field.ErrorList, error)

// run validates each case and holds the errors against those expected and, but for
// fields that it does not know, those of a stock kube-apiserver, order included. Without
// a stock validator the cases are about what Kubernetes does not have.
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
			if diff := cmp.Diff(causes(expected), causes(shared(got))); diff != "" {
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
		return validation.ValidateValidatingAdmissionPolicy(policy), nil
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

var ownFields = regexp.MustCompile(`^spec\.(policyType|bindingType|typeChecking|validations\[\d+\]\.failurePolicy)$|^status\.observedCustomResources`)

// shared are the errors that are not about fields of this project's own.
func shared(errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(slices.Clone(errs), func(err *field.Error) bool {
		return ownFields.MatchString(err.Field) || err.Field == "spec.paramKind" && err.Type == field.ErrorTypeForbidden
	})
}

// texts are the errors as they appear in the message of a Status.
func texts(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

// causes are the errors as they appear in the causes of a Status.
func causes(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, string(err.Type)+" "+err.Field+" "+err.ErrorBody())
	}
	return all
}
