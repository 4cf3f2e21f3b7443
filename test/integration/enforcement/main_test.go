// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package enforcement tests the effect of validating policies on requests. All tests share one
// server with an audit log and feature gate AdmissionPolicyTypeEnforcement; each binds its
// policies to its own namespaces.
package enforcement

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/test/integration/testserver"
)

var (
	// admin are clients that may do everything.
	admin    testserver.Clients
	core     kubernetes.Interface
	policies clientset.Interface
	objects  dynamic.Interface
	// auditLog is the path of the audit log, in which the server logs the creation of config maps.
	auditLog string
)

func TestMain(m *testing.M) {
	os.Exit(testserver.AuditedMain(m, func(clients testserver.Clients, log string) {
		admin, core, policies, objects, auditLog = clients, clients.Core, clients.Policies, clients.Objects, log
	}, "--feature-gates=AdmissionPolicyTypeEnforcement=true"))
}

// writePolicy creates a policy with a spec in YAML, deletes it at the end of the test, and
// returns its name.
func writePolicy(t *testing.T, spec string) string {
	t.Helper()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	sent := &v1.ValidatingAdmissionPolicy{Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, spec)}
	sent.Name = testserver.UniqueName("policy")
	return testserver.Create(t, client, sent).Name
}

// bind creates a binding of the policy with further spec fields in YAML, deletes it at the end of
// the test, and returns its name.
func bind(t *testing.T, policy, more string) string {
	t.Helper()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	sent := &v1.ValidatingAdmissionPolicyBinding{Spec: testserver.Parse[v1.ValidatingAdmissionPolicyBindingSpec](t, more)}
	sent.Name, sent.Spec.PolicyName = testserver.UniqueName("binding"), policy
	if sent.Spec.ValidationActions == nil {
		sent.Spec.ValidationActions = []v1.ValidationAction{v1.Deny}
	}
	return testserver.Create(t, client, sent).Name
}

// enforce creates a policy with a spec in YAML and binds it to a namespace. It returns when the
// policy is in effect.
func enforce(t *testing.T, namespace, spec string) denier {
	t.Helper()
	policy := writePolicy(t, spec)
	by := denier{policy, bind(t, policy, testserver.In(namespace))}
	settle(t)
	return by
}

// settle returns when all earlier writes of policies and bindings are in effect. The server
// receives the changes of each kind in the order of the writes, so a new policy and binding in
// effect prove that all earlier changes are.
func settle(t *testing.T) {
	t.Helper()
	name := testserver.UniqueName("settle")
	policy := writePolicy(t, configMaps("CREATE", name)+`
validations: [{expression: "false"}]`)
	bind(t, policy, `{}`)
	testserver.Eventually(t, func(ctx context.Context) error {
		sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("%s is not denied yet: %w", name, err)
		}
		return nil
	})
}

// configMaps returns the part of a policy's spec that matches an operation on config maps with
// one of the names, or with any name.
func configMaps(operation string, names ...string) string {
	rule := v1.NamedRuleWithOperations{ResourceNames: names, RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationType(operation)},
		Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	text, err := yaml.Marshal(v1.ValidatingAdmissionPolicySpec{MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{rule}}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// newConfigMap creates a config map whose data and labels are the given ones.
func newConfigMap(t *testing.T, namespace string, data map[string]string) error {
	t.Helper()
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("data"), Labels: data}, Data: data}
	_, err := core.CoreV1().ConfigMaps(namespace).Create(t.Context(), sent, metav1.CreateOptions{})
	return err
}

// denier holds the names of the policy and binding that deny a request. The binding is empty for
// errors of the policy itself.
type denier struct{ policy, binding string }

// message returns the message of a denial with the text.
func (d denier) message(text string) string {
	by := "ValidatingAdmissionPolicy '" + d.policy + "'"
	if d.binding != "" {
		by += " with binding '" + d.binding + "'"
	}
	return by + " denied request: " + text
}

// expectDenied checks that err is a denial with the text, reason and status code.
func (d denier) expectDenied(t *testing.T, err error, text string, reason metav1.StatusReason, code int32) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		t.Fatalf("got error %v, want a denial: %s", err, text)
	}
	got := status.Status()
	got.TypeMeta = metav1.TypeMeta{} // only some clients fill it in
	message := d.message(text)
	want := metav1.Status{
		Status:  metav1.StatusFailure,
		Message: got.Details.Kind + suffix(got.Details.Group) + ` "` + got.Details.Name + `" is forbidden: ` + message,
		Reason:  reason,
		Details: &metav1.StatusDetails{
			Name: got.Details.Name, Group: got.Details.Group, Kind: got.Details.Kind,
			Causes: []metav1.StatusCause{{Message: message}},
		},
		Code: code,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func suffix(group string) string {
	if group == "" {
		return ""
	}
	return "." + group
}

// expectInvalid checks that err is a denial with the default reason.
func (d denier) expectInvalid(t *testing.T, err error, text string) {
	t.Helper()
	d.expectDenied(t, err, text, metav1.StatusReasonInvalid, 422)
}
