// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaultexpressions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

// addRules adds rules to spec in version v1 and waits until the server evaluates them.
func (r *resource) addRules(t *testing.T, rules string) {
	t.Helper()
	patch := fmt.Sprintf(`[{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-default", "value": %s}]`, rules)
	testserver.Must(admin.Objects.Resource(crds).Patch(t.Context(), r.written.GetName(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{}))(t)
	testserver.Eventually(t, func(ctx context.Context) error {
		probe, err := r.in("v1").Create(ctx, r.service(t, "probe", `{spec: {input: x}}`), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if value, _, _ := unstructured.NestedString(probe.Object, "spec", "externalTrafficPolicy"); value != "Observed" {
			return fmt.Errorf("the server does not evaluate the rules yet: %v", probe.Object)
		}
		return nil
	})
}

// Objects that were stored without the fields are read with them, in every version, since rules run
// in the stored version.
func TestReads(t *testing.T) {
	r := define(t, "")
	testserver.Must(r.in("v1").Create(t.Context(), r.service(t, "a", `{spec: {}}`), metav1.CreateOptions{}))(t)
	before := testserver.Must(r.in("v1").Create(t.Context(), r.service(t, "b", `{spec: {input: x}}`), metav1.CreateOptions{}))(t)
	expect(t, before, map[string]string{"spec.host": ""})
	r.addRules(t, `[{"field": "externalTrafficPolicy", "rule": "'Observed'"}, {"field": "host", "rule": "self.name + '.example.com'"}, {"field": "url", "rule": "self.input"}]`)

	a := map[string]string{"spec.host": "a.example.com", "spec.url": "", "spec.externalTrafficPolicy": "Observed"}
	b := map[string]string{"spec.host": "b.example.com", "spec.url": "x", "spec.externalTrafficPolicy": "Observed"}
	for _, version := range []string{"v1", "v2"} {
		expect(t, testserver.Must(r.in(version).Get(t.Context(), "a", metav1.GetOptions{}))(t), a)
		list := testserver.Must(r.in(version).List(t.Context(), metav1.ListOptions{}))(t)
		if len(list.Items) != 2 {
			t.Fatalf("got %d objects, want 2", len(list.Items))
		}
		expect(t, &list.Items[0], a)
		expect(t, &list.Items[1], b)
		watch := testserver.Must(r.in(version).Watch(t.Context(), metav1.ListOptions{}))(t)
		for _, want := range []map[string]string{a, b} {
			event := <-watch.ResultChan()
			expect(t, event.Object.(*unstructured.Unstructured), want)
		}
		watch.Stop()
	}
	read := testserver.Must(r.in("v1").Get(t.Context(), "b", metav1.GetOptions{}))(t)
	if read.GetResourceVersion() != before.GetResourceVersion() {
		t.Errorf("got resource version %s, want %s: reading must not write", read.GetResourceVersion(), before.GetResourceVersion())
	}

	// Writes that leave what the rule of spec.url reads are allowed, although it fails. Others are
	// not.
	labeled, err := r.in("v1").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}, "spec": {"type": "NodePort"}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	labeled.Object["status"] = map[string]any{"ready": int64(1)}
	_, err = r.in("v1").UpdateStatus(t.Context(), labeled, metav1.UpdateOptions{})
	testserver.ExpectAdmitted(t, err)
	_, err = r.in("v1").Patch(t.Context(), "b", types.MergePatchType, []byte(`{"spec": {"input": null, "url": null}}`), metav1.PatchOptions{})
	expectInvalid(t, err, "spec.url: Invalid value: null")
}

// Appliers own the fields that they apply, not those that rules set.
func TestApply(t *testing.T) {
	r := define(t, serviceRules)
	services := r.in("v1")
	apply := func(manager, fields string) *unstructured.Unstructured {
		t.Helper()
		return testserver.Must(services.Apply(t.Context(), "a", r.service(t, "a", fields), metav1.ApplyOptions{FieldManager: manager}))(t)
	}
	applied := apply("first", balancer)
	expect(t, applied, defaulted)
	for _, entry := range applied.GetManagedFields() {
		owned := entry.FieldsV1.GetRawString()
		if entry.Manager == "first" && (strings.Contains(owned, "f:host") || !strings.Contains(owned, "f:type")) {
			t.Errorf("the applier owns %s, want the type but no host", owned)
		}
	}
	if again := apply("first", balancer); again.GetResourceVersion() != applied.GetResourceVersion() {
		t.Errorf("applying the same configuration has changed the object to %v", again.Object)
	}
	// Another applier may set a field that a rule has set.
	expect(t, apply("second", `{spec: {host: other}}`), map[string]string{"spec.host": "other", "spec.url": "https://a.example.com"})
	// When the applier gives up the field, the rule sets it again.
	expect(t, apply("second", `{spec: {}}`), map[string]string{"spec.host": "a.example.com"})
}

func TestOpenAPI(t *testing.T) {
	r := define(t, serviceRules)
	const sentence = "The DNS name.\n\nIf unset, defaults to the result of the CEL expression `self.name + '.example.com'`, where self is spec."
	for _, path := range []string{"/openapi/v3/apis/" + r.group + "/v1", "/openapi/v2"} {
		testserver.Eventually(t, func(ctx context.Context) error {
			body, err := admin.Core.Discovery().RESTClient().Get().AbsPath(path).DoRaw(ctx)
			if err != nil {
				return err
			}
			quoted, err := json.Marshal(sentence)
			if err != nil {
				return err
			}
			if !strings.Contains(string(body), string(quoted)) {
				return fmt.Errorf("%s has no %s", path, quoted)
			}
			return nil
		})
	}
	crd := testserver.Must(admin.Objects.Resource(crds).Get(t.Context(), r.written.GetName(), metav1.GetOptions{}))(t)
	if stored, _ := json.Marshal(crd.Object["spec"]); strings.Contains(string(stored), "If unset") {
		t.Error("the stored schema has the description of the rule")
	}
}

// A mutating policy sets what a rule reads.
func TestMutation(t *testing.T) {
	r := define(t, serviceRules)
	policies, bindings := admin.Core.AdmissionregistrationV1().MutatingAdmissionPolicies(), admin.Core.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
	name := testserver.UniqueName("name")
	testserver.Create(t, policies, testserver.Parse[*admissionregistrationv1.MutatingAdmissionPolicy](t, fmt.Sprintf(`
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: ["%[2]s"], apiVersions: ["*"], resources: ["*"], operations: [CREATE]}]}
  matchConditions: [{name: marked, expression: "object.spec.?input == optional.of('mutate')"}]
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'replace', path: '/spec/type', value: 'LoadBalancer'}, JSONPatch{op: 'remove', path: '/spec/host'}, JSONPatch{op: 'replace', path: '/spec/name', value: 'mutated'}]"}}]
`, name, r.group)))
	testserver.Create(t, bindings, testserver.Parse[*admissionregistrationv1.MutatingAdmissionPolicyBinding](t, fmt.Sprintf(`{metadata: {name: %[1]s}, spec: {policyName: %[1]s}}`, name)))
	testserver.Eventually(t, func(ctx context.Context) error {
		created, err := r.in("v1").Create(ctx, r.service(t, "a", `{spec: {input: mutate}}`), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err
		}
		if kind, _, _ := unstructured.NestedString(created.Object, "spec", "type"); kind != "LoadBalancer" {
			return fmt.Errorf("the policy does not apply yet: %v", created.Object)
		}
		return nil
	})
	created := testserver.Must(r.in("v1").Create(t.Context(), r.service(t, "a", `{spec: {input: mutate}}`), metav1.CreateOptions{}))(t)
	expect(t, created, map[string]string{"spec.externalTrafficPolicy": "Cluster", "spec.host": "mutated.example.com", "spec.url": "https://a.example.com"})
}
