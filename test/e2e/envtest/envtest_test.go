// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package envtest shows how tests that use controller-runtime's envtest run against Celador. make
// envtest runs it.
package envtest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestPolicyDenies creates a policy and a binding with the client of controller-runtime, and waits
// for the denial of a ConfigMap.
func TestPolicyDenies(t *testing.T) {
	for _, variable := range []string{"TEST_ASSET_KUBE_APISERVER", "TEST_ASSET_ETCD"} {
		if os.Getenv(variable) == "" {
			t.Fatalf("%s must be the path of the binary: run make envtest", variable)
		}
	}
	environment := &envtest.Environment{}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "owned"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "'owner' in object.metadata.?labels.orValue({})", Message: "a ConfigMap has an owner"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "owned"},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	for _, object := range []client.Object{policy, binding} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}

	create := func(name string, labels map[string]string) error {
		return c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: name, Labels: labels}}, client.DryRunAll)
	}
	var denial error
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		denial = create("ownerless-", nil)
		return apierrors.IsInvalid(denial), nil
	})
	if err != nil {
		t.Fatalf("the policy does not deny: %v, the last answer is %v", err, denial)
	}
	if !strings.Contains(denial.Error(), "a ConfigMap has an owner") {
		t.Errorf("the server denies with %v", denial)
	}
	if err := create("owned-", map[string]string{"owner": "me"}); err != nil {
		t.Errorf("the server denies an object that satisfies the policy: %v", err)
	}
}
