// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package enforcement tests what policies do to requests. All tests share one server
// with default flags, but for an audit log and the enforcement of types; each writes into
// namespaces of its own, to which it binds its policies.
package enforcement

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/test/integration/testserver"
)

var (
	// admin is the configuration of a client that may do everything.
	admin *rest.Config
	// core and policies are clients with it.
	core     kubernetes.Interface
	policies clientset.Interface
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "celador-audit-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	auditLog = filepath.Join(dir, "audit.log")
	return testserver.Main(m, func(config *rest.Config) error {
		var err, coreErr error
		admin = config
		core, coreErr = kubernetes.NewForConfig(config)
		policies, err = clientset.NewForConfig(config)
		return errors.Join(err, coreErr)
	}, "--audit-policy-file="+filepath.Join("testdata", "audit-policy.yaml"), "--audit-log-path="+auditLog,
		"--feature-gates=AdmissionPolicyTypeEnforcement=true")
}

// namespace creates a namespace and returns its name.
func namespace(t *testing.T, labels map[string]string) string {
	t.Helper()
	sent := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("test"), Labels: labels}}
	if _, err := core.CoreV1().Namespaces().Create(t.Context(), sent, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return sent.Name
}

// writePolicy creates a policy with a spec in YAML and returns its name. It is gone
// at the end of the test.
func writePolicy(t *testing.T, spec string) string {
	t.Helper()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	sent := &v1.ValidatingAdmissionPolicy{Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, spec)}
	sent.Name = testserver.UniqueName("policy")
	if _, err := client.Create(t.Context(), sent, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { expectGone(t, client.Delete(context.Background(), sent.Name, metav1.DeleteOptions{})) })
	return sent.Name
}

// bind creates a binding of the policy, with more of the spec in YAML, and returns its
// name. It is gone at the end of the test.
func bind(t *testing.T, policy, more string) string {
	t.Helper()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	sent := &v1.ValidatingAdmissionPolicyBinding{Spec: testserver.Parse[v1.ValidatingAdmissionPolicyBindingSpec](t, more)}
	sent.Name, sent.Spec.PolicyName = testserver.UniqueName("binding"), policy
	if sent.Spec.ValidationActions == nil {
		sent.Spec.ValidationActions = []v1.ValidationAction{v1.Deny}
	}
	if _, err := client.Create(t.Context(), sent, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { expectGone(t, client.Delete(context.Background(), sent.Name, metav1.DeleteOptions{})) })
	return sent.Name
}

// in is the part of a binding's spec that binds to one namespace.
func in(namespace string) string {
	return `matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + namespace + `}}}`
}

// enforce puts a policy with a spec in YAML into effect in a namespace and returns the
// names of the policy and its binding.
func enforce(t *testing.T, namespace, spec string) denier {
	t.Helper()
	policy := writePolicy(t, spec)
	by := denier{policy, bind(t, policy, in(namespace))}
	settle(t)
	return by
}

// settle returns when everything written to policies and bindings so far is in effect.
// The server sees the changes of each of the two kinds in the order of the writes, so
// that a new pair in effect proves that all changes before it are.
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

// configMaps is the part of a policy's spec that matches an operation on config maps,
// all or those with one of the names.
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

// expectGone wants that a deletion at the end of a test found the object, or that it
// was gone already.
func expectGone(t *testing.T, err error) {
	t.Helper()
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// newConfigMap creates a config map with the data, and labels that are the same.
func newConfigMap(t *testing.T, namespace string, data map[string]string) error {
	t.Helper()
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("data"), Labels: data}, Data: data}
	_, err := core.CoreV1().ConfigMaps(namespace).Create(t.Context(), sent, metav1.CreateOptions{})
	return err
}

// denier names what denies a request. The binding is empty when the policy itself does.
type denier struct{ policy, binding string }

// message is how a denial states the text.
func (d denier) message(text string) string {
	by := "ValidatingAdmissionPolicy '" + d.policy + "'"
	if d.binding != "" {
		by += " with binding '" + d.binding + "'"
	}
	return by + " denied request: " + text
}

// expectDenied wants a denial with the text, for the reason and with its status code.
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

// expectInvalid wants a denial without a reason of its own.
func (d denier) expectInvalid(t *testing.T, err error, text string) {
	t.Helper()
	d.expectDenied(t, err, text, metav1.StatusReasonInvalid, 422)
}

// expectAdmitted wants no error.
func expectAdmitted(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("got error %v, want the request admitted", err)
	}
}
