// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutation tests what MutatingAdmissionPolicy does to requests. All tests share one
// server with default flags, but for an audit log; each writes into namespaces of its own,
// to which it binds its policies.
package mutation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/test/integration/testserver"
)

var (
	// admin is the configuration of a client that may do everything.
	admin *rest.Config
	// core, objects and policies are clients with it.
	core     kubernetes.Interface
	objects  dynamic.Interface
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
		var coreErr, objectsErr, policiesErr error
		admin = config
		core, coreErr = kubernetes.NewForConfig(config)
		objects, objectsErr = dynamic.NewForConfig(config)
		policies, policiesErr = clientset.NewForConfig(config)
		return errors.Join(coreErr, objectsErr, policiesErr)
	}, "--audit-policy-file="+filepath.Join("testdata", "audit-policy.yaml"), "--audit-log-path="+auditLog)
}

// namespace creates a namespace in which pods can be created, and returns its name.
func namespace(t *testing.T) string {
	t.Helper()
	name := testserver.UniqueName("test")
	must(core.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))(t)
	newAccount(t, name)
	return name
}

// newAccount creates the account that pods need. There is no controller that would.
func newAccount(t *testing.T, namespace string) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := core.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// writePolicy creates a policy with a spec in YAML, a name that starts with the prefix, and
// reinvocationPolicy Never unless the spec has one. It is gone at the end of the test.
func writePolicy(t *testing.T, prefix, spec string) string {
	t.Helper()
	client := policies.AdmissionregistrationV1().MutatingAdmissionPolicies()
	sent := &v1.MutatingAdmissionPolicy{Spec: testserver.Parse[v1.MutatingAdmissionPolicySpec](t, spec)}
	sent.Name = testserver.UniqueName(prefix)
	if sent.Spec.ReinvocationPolicy == "" {
		sent.Spec.ReinvocationPolicy = v1.NeverReinvocationPolicy
	}
	must(client.Create(t.Context(), sent, metav1.CreateOptions{}))(t)
	t.Cleanup(func() { expectGone(t, client.Delete(context.Background(), sent.Name, metav1.DeleteOptions{})) })
	return sent.Name
}

// bind creates a binding of the policy with the same name, with more of the spec in YAML. It
// is gone at the end of the test.
func bind(t *testing.T, policy, more string) {
	t.Helper()
	bindAs(t, policy, policy, more)
}

// bindAs creates a binding with a name of its own.
func bindAs(t *testing.T, name, policy, more string) {
	t.Helper()
	client := policies.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
	sent := &v1.MutatingAdmissionPolicyBinding{Spec: testserver.Parse[v1.MutatingAdmissionPolicyBindingSpec](t, more)}
	sent.Name, sent.Spec.PolicyName = name, policy
	must(client.Create(t.Context(), sent, metav1.CreateOptions{}))(t)
	t.Cleanup(func() { expectGone(t, client.Delete(context.Background(), name, metav1.DeleteOptions{})) })
}

// in is the part of a binding's spec that binds to one namespace.
func in(namespace string) string {
	return `matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + namespace + `}}}`
}

// enforce puts a policy into effect in a namespace and returns its name, which is also that
// of its binding.
func enforce(t *testing.T, namespace, spec string) string {
	t.Helper()
	return enforceAll(t, namespace, "policy", spec)[0]
}

// enforceAll puts policies into effect in a namespace, one for each prefix of a name.
func enforceAll(t *testing.T, namespace string, prefixesAndSpecs ...string) (names []string) {
	t.Helper()
	for i := 0; i < len(prefixesAndSpecs); i += 2 {
		name := writePolicy(t, prefixesAndSpecs[i], prefixesAndSpecs[i+1])
		bind(t, name, in(namespace))
		names = append(names, name)
	}
	settle(t)
	return names
}

// settle returns when everything written to policies and bindings so far is in effect. The
// server sees the changes of each of the two kinds in the order of the writes, so that a new
// pair in effect proves that all changes before it are.
func settle(t *testing.T) {
	t.Helper()
	name := testserver.UniqueName("settle")
	bind(t, writePolicy(t, "settle", on("CREATE", "", "configmaps")+mutations(jsonPatch(`[JSONPatch{op: "add", path: "/data", value: {"settled": "true"}}]`))+
		`matchConditions: [{name: marker, expression: "object.metadata.name == '`+name+`'"}]`), `{}`)
	testserver.Eventually(t, func(ctx context.Context) error {
		sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		got, err := core.CoreV1().ConfigMaps("default").Create(ctx, sent, dry)
		if err == nil && got.Data["settled"] != "true" {
			err = fmt.Errorf("%s is not changed yet", name)
		}
		return err
	})
}

var dry = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

// on is the part of a policy's spec that matches an operation on a resource, in v1.
func on(operation, group, resource string) string {
	return fmt.Sprintf("matchConstraints: {resourceRules: [{apiGroups: [%q], apiVersions: [v1], operations: [%q], resources: [%q]}]}\n", group, operation, resource)
}

// mutations is the part of a policy's spec that makes changes.
func mutations(list ...string) string { return "mutations: [" + strings.Join(list, ", ") + "]\n" }

func jsonPatch(expression string) string {
	return "{patchType: JSONPatch, jsonPatch: {expression: " + quote(expression) + "}}"
}

func apply(expression string) string {
	return "{patchType: ApplyConfiguration, applyConfiguration: {expression: " + quote(expression) + "}}"
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// set is a mutation that adds an entry to the data of a config map that has some.
func set(key, value string) string {
	return jsonPatch(fmt.Sprintf(`[JSONPatch{op: "add", path: "/data/%s", value: %s}]`, key, value))
}

// nothing is a mutation that changes nothing. An empty list alone would not be one of patches.
var nothing = jsonPatch("[JSONPatch{}].filter(p, false)")

// newConfigMap creates a config map with the data and returns what became of that.
func newConfigMap(t *testing.T, namespace string, data map[string]string) (map[string]string, error) {
	t.Helper()
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("data")}, Data: data}
	got, err := core.CoreV1().ConfigMaps(namespace).Create(t.Context(), sent, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return got.Data, nil
}

// newPod returns a pod with a container.
func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "idle", Image: "registry.k8s.io/pause:3.10"}}},
	}
}

// expectRefused wants that the policy refuses the request with the text, for the reason.
func expectRefused(t *testing.T, err error, policy, text string, reason metav1.StatusReason) {
	t.Helper()
	expectError(t, err, "policy '"+policy+"' with binding '"+policy+"' denied request: "+text, reason)
}

// expectError wants an error with the text for the reason.
func expectError(t *testing.T, err error, text string, reason metav1.StatusReason) {
	t.Helper()
	if err == nil || apierrors.ReasonForError(err) != reason || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v (%s), want %s (%s)", err, apierrors.ReasonForError(err), text, reason)
	}
}

func expectEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// must returns a function that returns the value, or ends the test with the error.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// expectGone wants that a deletion at the end of a test found the object, or that it was gone
// already.
func expectGone(t *testing.T, err error) {
	t.Helper()
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
