// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"errors"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/validating"
)

// Expressions read the variables of CREATE, UPDATE, DELETE, CONNECT and subresource requests.
func TestInput(t *testing.T) {
	record := func(operation admission.Operation, object, old runtime.Object, kind schema.GroupVersionKind, namespace, name string, resource schema.GroupVersionResource, subresource string, options runtime.Object) admission.Attributes {
		return admission.NewAttributesRecord(object, old, kind, namespace, name, resource, subresource, operation, options, operation == admission.Update, jane)
	}
	exec := &corev1.PodExecOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodExecOptions"}, Command: []string{"sh"}}
	node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	space := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "new"}}
	nameless := deploy(9)
	nameless.Name, nameless.GenerateName = "", "web-"
	for name, test := range map[string]struct {
		attributes  admission.Attributes
		expressions []string
	}{
		"create": {create(9), []string{
			"object.kind == 'Deployment' && object.apiVersion == 'apps/v1'",
			"object.spec.replicas == 9 && object.metadata.name == 'web'",
			"!has(object.metadata.labels) && !has(object.spec.paused)",
			"oldObject == null",
			"request.operation == 'CREATE' && request.name == 'web' && request.namespace == 'blue'",
			"request.resource.group == 'apps' && request.resource.version == 'v1' && request.resource.resource == 'deployments'",
			"request.kind.group == 'apps' && request.kind.version == 'v1' && request.kind.kind == 'Deployment'",
			"request.requestKind == request.kind && request.requestResource == request.resource",
			"!has(request.subResource) && !has(request.requestSubResource)",
			"request.userInfo.username == 'jane' && request.userInfo.uid == 'u1' && request.userInfo.groups == ['developers']",
			"request.userInfo.extra['team'] == ['blue']",
			"!request.dryRun && request.options.fieldManager == 'test'",
			"namespaceObject.metadata.name == 'blue' && namespaceObject.metadata.labels.color == 'blue'",
		}},
		"create, to be named": {record(admission.Create, nameless, nil, deployment, "blue", "", deployments, "", nil), []string{
			"!has(request.name) && object.metadata.generateName == 'web-'", "request.options == null",
		}},
		"update": {record(admission.Update, deploy(9), deploy(3), deployment, "red", "web", deployments, "", &metav1.UpdateOptions{}), []string{
			"object.spec.replicas == 9 && oldObject.spec.replicas == 3", "object != oldObject && object.metadata == oldObject.metadata",
			"request.operation == 'UPDATE' && request.dryRun", "namespaceObject.metadata.labels.color == 'red'",
		}},
		"delete": {record(admission.Delete, nil, deploy(3), deployment, "blue", "web", deployments, "", &metav1.DeleteOptions{GracePeriodSeconds: new(int64(7))}), []string{
			"object == null && oldObject.spec.replicas == 3", "request.operation == 'DELETE' && request.options.gracePeriodSeconds == 7",
		}},
		"connect": {record(admission.Connect, exec, nil, exec.GroupVersionKind(), "blue", "p", pods, "exec", nil), []string{
			"object.command == ['sh'] && oldObject == null", "request.operation == 'CONNECT' && request.subResource == 'exec' && request.kind.kind == 'PodExecOptions'",
			"namespaceObject.metadata.name == 'blue'",
		}},
		"cluster-scoped": {record(admission.Create, node, nil, node.GroupVersionKind(), "", "n", nodes, "", nil), []string{
			"namespaceObject == null && !has(request.namespace)", "object.metadata.name == 'n'",
		}},
		"namespace": {record(admission.Create, space, nil, space.GroupVersionKind(), "new", "new", corev1.SchemeGroupVersion.WithResource("namespaces"), "", nil), []string{
			"namespaceObject == null && request.namespace == 'new'", "object.metadata.name == 'new'",
		}},
		"unstructured": {record(admission.Update, newWidget(9), newWidget(3), widget, "blue", "w", widgets, "status", nil), []string{
			"object.kind == 'Widget' && object.apiVersion == 'example.com/v1'", "object.spec.replicas == 9 && oldObject.spec.replicas == 3",
			"object.spec.parts == ['a', 'b'] && object.spec.parts.all(p, p in oldObject.spec.parts)", "!has(object.status)", "request.subResource == 'status'",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			policy := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(test.expressions...)})
			got := evaluate(t, newServer(), test.attributes, store(policy, policytest.Binding("b", "p")).Snapshot())
			if len(got.Decisions()) != len(test.expressions) {
				t.Fatalf("%d decisions, want %d", len(got.Decisions()), len(test.expressions))
			}
			for _, d := range got.Decisions() {
				if d.Outcome != validating.Admitted {
					t.Errorf("%s: %s: %s", test.expressions[d.Index], d.Outcome, d.Message)
				}
			}
		})
	}
}

// The expressions of a policy that matches an equivalent version read the object and the request in
// that version. Match conditions read the resource of the original request.
func TestConversion(t *testing.T) {
	spec := v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: policytest.Match(v1.Equivalent, ruleFor(legacyDeployments)),
		MatchConditions:  []v1.MatchCondition{{Name: "c", Expression: "object.apiVersion == 'extensions/v1beta1' && request.resource.group == 'apps' && request.kind.group == 'extensions'"}},
		Validations: policytest.Validations(
			"object.apiVersion == 'extensions/v1beta1' && object.kind == 'Deployment' && object.spec.replicas == 9",
			"oldObject.apiVersion == 'extensions/v1beta1' && oldObject.spec.replicas == 3",
			"request.resource.group == 'extensions' && request.resource.version == 'v1beta1' && request.kind.group == 'extensions'",
			"request.requestResource.group == 'apps' && request.requestKind.group == 'apps'",
		),
	}
	s := newServer()
	snapshot := store(
		policytest.Validating("a", spec), policytest.Binding("a", "a"), policytest.Binding("b", "a"),
		policytest.Validating("b", spec), policytest.Binding("c", "b"),
		policytest.Validating("c", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("object.apiVersion == 'apps/v1'")}), policytest.Binding("d", "c"),
	).Snapshot()
	update := admission.NewAttributesRecord(deploy(9), deploy(3), deployment, "blue", "web", deployments, "", admission.Update, nil, false, jane)
	got := evaluate(t, s, update, snapshot)
	if len(got.Decisions()) != 13 {
		t.Errorf("%d decisions, want 13", len(got.Decisions()))
	}
	for _, d := range got.Decisions() {
		if d.Outcome != validating.Admitted {
			t.Errorf("%s/%s %d: %s: %s", d.Policy, d.Binding, d.Index, d.Outcome, d.Message)
		}
	}
	if s.conversions != 2 {
		t.Errorf("%d conversions, want one of each object", s.conversions)
	}
	if s.namespaces != 1 {
		t.Errorf("%d namespaces looked up, want 1", s.namespaces)
	}
}

func TestConversionFails(t *testing.T) {
	unknown := policytest.Match(v1.Equivalent, ruleFor(schema.GroupVersionResource{Group: "apps", Version: "v9", Resource: "deployments"}))
	const message = `failed to configure binding: failed to convert object version: no kind "Deployment" is registered for version "apps/v9" in scheme`
	for _, failurePolicy := range []v1.FailurePolicyType{v1.Fail, v1.Ignore} {
		got := found(t, v1.ValidatingAdmissionPolicySpec{FailurePolicy: &failurePolicy, MatchConstraints: unknown, Validations: policytest.Validations("true")})
		if len(got.Decisions()) != 1 {
			t.Fatalf("decisions are %+v", got.Decisions())
		}
		d := got.Decisions()[0]
		if text := d.Message; len(text) < len(message) || text[:len(message)] != message {
			t.Errorf("message is %q, want %q", text, message)
		}
		d.Message, d.Err = "", errors.New("")
		want := failed(-1, "")
		want.Misconfigured = true
		want.Ignored = failurePolicy == v1.Ignore
		wantDecisions(t, []validating.Decision{d}, []validating.Decision{want})
	}
}
