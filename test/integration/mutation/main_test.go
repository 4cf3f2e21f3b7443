// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutation tests the effect of MutatingAdmissionPolicy on requests. All tests share one
// server with an audit log; each binds its policies to its own namespaces.
package mutation

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/test/integration/testserver"
)

var (
	// admin are clients that may do everything.
	admin    testserver.Clients
	core     kubernetes.Interface
	objects  dynamic.Interface
	policies clientset.Interface
	// auditLog is the path of the audit log, in which the server logs the creation of config maps
	// and boxes.
	auditLog string
)

func TestMain(m *testing.M) {
	os.Exit(testserver.AuditedMain(m, func(clients testserver.Clients, log string) {
		admin, core, policies, objects, auditLog = clients, clients.Core, clients.Policies, clients.Objects, log
	}))
}

// namespace creates a namespace with the service account that pods need, and returns its name.
func namespace(t *testing.T) string {
	t.Helper()
	name := admin.Namespace(t, nil)
	newAccount(t, name)
	return name
}

// newAccount creates the default service account of a namespace, because no controller does.
func newAccount(t *testing.T, namespace string) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := core.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// writePolicy creates a policy with a spec in YAML, a name with the prefix, and by default
// reinvocationPolicy Never. It deletes the policy at the end of the test.
func writePolicy(t *testing.T, prefix, spec string) string {
	t.Helper()
	client := policies.AdmissionregistrationV1().MutatingAdmissionPolicies()
	sent := &v1.MutatingAdmissionPolicy{Spec: testserver.Parse[v1.MutatingAdmissionPolicySpec](t, spec)}
	sent.Name = testserver.UniqueName(prefix)
	if sent.Spec.ReinvocationPolicy == "" {
		sent.Spec.ReinvocationPolicy = v1.NeverReinvocationPolicy
	}
	return testserver.Create(t, client, sent).Name
}

// bind creates a binding with the name of the policy and further spec fields in YAML. It deletes
// the binding at the end of the test.
func bind(t *testing.T, policy, more string) {
	t.Helper()
	bindAs(t, policy, policy, more)
}

// bindAs is like bind for a binding with another name.
func bindAs(t *testing.T, name, policy, more string) {
	t.Helper()
	client := policies.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
	sent := &v1.MutatingAdmissionPolicyBinding{Spec: testserver.Parse[v1.MutatingAdmissionPolicyBindingSpec](t, more)}
	sent.Name, sent.Spec.PolicyName = name, policy
	testserver.Create(t, client, sent)
}

// enforce creates a policy and binds it to a namespace. It returns the name of both when the
// policy is in effect.
func enforce(t *testing.T, namespace, spec string) string {
	t.Helper()
	return enforceAll(t, namespace, "policy", spec)[0]
}

// enforceAll is like enforce for several policies, each given by the prefix of its name and its
// spec.
func enforceAll(t *testing.T, namespace string, prefixesAndSpecs ...string) (names []string) {
	t.Helper()
	for i := 0; i < len(prefixesAndSpecs); i += 2 {
		name := writePolicy(t, prefixesAndSpecs[i], prefixesAndSpecs[i+1])
		bind(t, name, testserver.In(namespace))
		names = append(names, name)
	}
	settle(t)
	return names
}

// settle returns when all earlier writes of policies and bindings are in effect. The server
// receives the changes of each kind in the order of the writes, so a new policy and binding in
// effect prove that all earlier changes are.
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

// on returns the part of a policy's spec that matches an operation on a resource in v1.
func on(operation, group, resource string) string {
	return fmt.Sprintf("matchConstraints: {resourceRules: [{apiGroups: [%q], apiVersions: [v1], operations: [%q], resources: [%q]}]}\n", group, operation, resource)
}

// mutations returns the part of a policy's spec that lists mutations.
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

// set returns a mutation that adds an entry to non-empty data of a config map.
func set(key, value string) string {
	return jsonPatch(fmt.Sprintf(`[JSONPatch{op: "add", path: "/data/%s", value: %s}]`, key, value))
}

// nothing is a mutation that changes nothing. A bare empty list would not compile as a list of
// patches.
var nothing = jsonPatch("[JSONPatch{}].filter(p, false)")

// newConfigMap creates a config map with the data and returns the resulting data.
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

// expectRefused checks that the policy denied the request with the text and the reason.
func expectRefused(t *testing.T, err error, policy, text string, reason metav1.StatusReason) {
	t.Helper()
	expectError(t, err, "policy '"+policy+"' with binding '"+policy+"' denied request: "+text, reason)
}

// expectError checks that err contains the text and has the reason.
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
