// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaultexpressions

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

// defaulted are the fields that the rules set for a service a of type LoadBalancer.
var defaulted = map[string]string{
	"spec.name": "a", "spec.externalTrafficPolicy": "Cluster", "spec.host": "a.example.com", "spec.url": "https://a.example.com",
	"spec.ports": "[map[port:80 target:80] map[port:81 target:8081]]",
}

const balancer = `{spec: {type: LoadBalancer, ports: [{port: 80}, {port: 81, target: 8081}]}}`

func TestRequests(t *testing.T) {
	r := define(t, serviceRules)
	services := r.in("v1")
	dry, err := services.Create(t.Context(), r.service(t, "a", balancer), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	testserver.ExpectAdmitted(t, err)
	expect(t, dry, defaulted)

	created := testserver.Must(services.Create(t.Context(), r.service(t, "a", balancer), metav1.CreateOptions{}))(t)
	expect(t, created, defaulted)
	expect(t, testserver.Must(services.Get(t.Context(), "a", metav1.GetOptions{}))(t), defaulted)
	expect(t, testserver.Must(r.in("v2").Get(t.Context(), "a", metav1.GetOptions{}))(t), defaulted)

	// A stored default stays when the fields change that the rule reads. An update without the
	// field sets it again.
	patched := testserver.Must(services.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec": {"name": "b", "ports": null}}`), metav1.PatchOptions{}))(t)
	expect(t, patched, map[string]string{"spec.name": "b", "spec.host": "a.example.com", "spec.ports": ""})
	removed := testserver.Must(services.Patch(t.Context(), "a", types.JSONPatchType, []byte(`[{"op": "remove", "path": "/spec/host"}, {"op": "remove", "path": "/spec/url"}]`), metav1.PatchOptions{}))(t)
	expect(t, removed, map[string]string{"spec.name": "b", "spec.host": "b.example.com", "spec.url": "https://b.example.com"})
	update := r.service(t, "a", `{spec: {type: NodePort}}`)
	update.SetResourceVersion(removed.GetResourceVersion())
	updated := testserver.Must(services.Update(t.Context(), update, metav1.UpdateOptions{}))(t)
	expect(t, updated, map[string]string{"spec.name": "a", "spec.host": "a.example.com", "spec.externalTrafficPolicy": ""})
	if updated.GetGeneration() != removed.GetGeneration()+1 {
		t.Errorf("got generation %d after %d", updated.GetGeneration(), removed.GetGeneration())
	}
}

// A generated name is not known yet when the request is decoded.
func TestGenerateName(t *testing.T) {
	r := define(t, serviceRules)
	service := r.service(t, "", `{spec: {}}`)
	service.SetGenerateName("web-")
	created := testserver.Must(r.in("v1").Create(t.Context(), service, metav1.CreateOptions{}))(t)
	want := map[string]string{"spec.name": created.GetName(), "spec.host": created.GetName() + ".example.com"}
	expect(t, created, want)
	read := testserver.Must(r.in("v1").Get(t.Context(), created.GetName(), metav1.GetOptions{}))(t)
	expect(t, read, want)
}

func TestStatus(t *testing.T) {
	r := define(t, serviceRules)
	services := r.in("v1")
	created := testserver.Must(services.Create(t.Context(), r.service(t, "a", `{spec: {}, status: {ready: 1}}`), metav1.CreateOptions{}))(t)
	expect(t, created, map[string]string{"status": ""})
	created.Object["status"] = map[string]any{"ready": int64(2)}
	created.Object["spec"] = map[string]any{}
	updated := testserver.Must(services.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}))(t)
	expect(t, updated, map[string]string{"status.summary": "2 ready", "spec.host": "a.example.com"})
	// The status subresource reports errors of the status, and the resource does not.
	updated.Object["status"] = map[string]any{}
	_, err := services.UpdateStatus(t.Context(), updated, metav1.UpdateOptions{})
	expectInvalid(t, err, "status.summary: Invalid value: null", "no such key: ready")
}

// failing has a rule that needs an input.
const failing = `
            x-kubernetes-default:
            - {field: url, rule: "'https://' + self.input"}`

func TestErrors(t *testing.T) {
	r := define(t, failing)
	services := r.in("v1")
	_, err := services.Create(t.Context(), r.service(t, "a", `{spec: {}}`), metav1.CreateOptions{})
	expectInvalid(t, err, `spec.url: Invalid value: null: no default: the rule "'https://' + self.input" of x-kubernetes-default fails: no such key: input; set the field`)
	created := testserver.Must(services.Create(t.Context(), r.service(t, "a", `{spec: {input: a}}`), metav1.CreateOptions{}))(t)
	expect(t, created, map[string]string{"spec.url": "https://a"})
	_, err = services.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec": {"input": null, "url": null}}`), metav1.PatchOptions{})
	expectInvalid(t, err, "spec.url: Invalid value: null")
}

func TestInvalidRules(t *testing.T) {
	r := define(t, failing)
	crd := testserver.Must(admin.Objects.Resource(crds).Get(t.Context(), r.written.GetName(), metav1.GetOptions{}))(t)
	patch := func(rule string) error {
		_, err := admin.Objects.Resource(crds).Patch(t.Context(), crd.GetName(), types.JSONPatchType,
			[]byte(`[{"op": "replace", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-default/0/rule", "value": "`+rule+`"}]`), metav1.PatchOptions{})
		return err
	}
	expectInvalid(t, patch("host"), "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-default[0].rule", "write self.host")
	testserver.ExpectAdmitted(t, patch("self.host"))
}

// expectInvalid checks that an error is about an invalid object and has the texts.
func expectInvalid(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !apierrors.IsInvalid(err) {
		t.Errorf("got error %v, want an invalid object", err)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("got error %q, want %q in it", err, text)
		}
	}
}
