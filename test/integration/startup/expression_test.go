// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"

	v1 "celador.io/api/admissionregistration/v1"
	policyscheme "celador.io/client-go/clientset/scheme"

	"celador.io/celador/test/integration/testserver"
)

// New expressions may only use functions of the previous version, to which a server may be rolled
// back. Stored expressions remain valid.
func testNewAndStoredExpressions(t *testing.T, client clients, store *clientv3.Client) {
	// Function includes was added in Kubernetes 1.37.
	const newest = "!['bad', 'worse'].includes(object.data.mark)"
	policy := &v1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: group + "/v1", Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: "marks", UID: "1", Generation: 1},
		Spec: v1.ValidatingAdmissionPolicySpec{
			FailurePolicy: new(v1.Fail),
			MatchConstraints: &v1.MatchResources{
				MatchPolicy: new(v1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
				ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
					Operations: []v1.OperationType{v1.Create},
					Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}, Scope: new(v1.AllScopes)},
				}}},
			},
			Validations: []v1.Validation{{Expression: newest, Message: "bad mark"}},
		},
	}
	ours := client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	sent := policy.DeepCopy()
	sent.ObjectMeta = metav1.ObjectMeta{Name: "new"}
	if _, err := ours.Create(t.Context(), sent, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Fatalf("new expression: got error %v, want it invalid", err)
	}

	serializer := json.NewSerializerWithOptions(json.DefaultMetaFactory, policyscheme.Scheme, policyscheme.Scheme, json.SerializerOptions{})
	value, err := runtime.Encode(serializer, policy)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), "/registry/validatingadmissionpolicies/marks", string(value)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "marks"},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "marks", ValidationActions: []v1.ValidationAction{v1.Deny}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mark := func(mark string) error {
		_, err := client.Core.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "data-"}, Data: map[string]string{"mark": mark},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	testserver.Eventually(t, func(context.Context) error {
		if err := mark("bad"); !apierrors.IsInvalid(err) {
			return fmt.Errorf("got error %w, want a denial", err)
		}
		return nil
	})
	if err := mark("good"); err != nil {
		t.Error(err)
	}

	for name, tc := range map[string]struct {
		patch   string
		invalid bool
	}{
		"another field": {patch: `[{"op": "replace", "path": "/spec/failurePolicy", "value": "Ignore"}]`},
		"another place": {patch: `[{"op": "add", "path": "/spec/matchConditions", "value": [{"name": "mark", "expression": "` + newest + `"}]}]`},
		"an old one":    {patch: `[{"op": "add", "path": "/spec/validations/-", "value": {"expression": "object.data.mark in ['good']"}}]`},
		"a new one":     {patch: `[{"op": "add", "path": "/spec/validations/-", "value": {"expression": "['good'].includes(object.data.mark)"}}]`, invalid: true},
	} {
		_, err := ours.Patch(t.Context(), "marks", types.JSONPatchType, []byte(tc.patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if tc.invalid != apierrors.IsInvalid(err) || !tc.invalid && err != nil {
			t.Errorf("%s: got error %v, want it invalid: %t", name, err, tc.invalid)
		}
	}
}
