// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// testRequestTime checks that mutating and validating policies read the time that the audit event
// of the request has, in all expressions.
func testRequestTime(t *testing.T, admin testserver.Clients, auditLog string) {
	client, namespace, name := admin.Policies.AdmissionregistrationV1(), admin.Namespace(t, nil), testserver.UniqueName("timed")
	constraints := `
matchConstraints:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + namespace + `}}
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`
	meta := metav1.ObjectMeta{Name: name}
	testserver.Create(t, client.MutatingAdmissionPolicies(), &v1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: testserver.Parse[v1.MutatingAdmissionPolicySpec](t, constraints+`
reinvocationPolicy: IfNeeded
mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'mutated': string(request.time)}}"}}]`)})
	testserver.Create(t, client.MutatingAdmissionPolicyBindings(), &v1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: name}})
	testserver.Create(t, client.ValidatingAdmissionPolicies(), &v1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, constraints+`
matchConditions: [{name: read, expression: string(request.time) == object.data.mutated}]
validations: [{expression: string(request.time) == object.data.mutated}]
auditAnnotations: [{key: time, valueExpression: string(request.time)}]`)})
	testserver.Create(t, client.ValidatingAdmissionPolicyBindings(), &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: meta, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []v1.ValidationAction{v1.Deny}},
	})
	try := func(ctx context.Context) (*corev1.ConfigMap, error) {
		return admin.Core.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	testserver.Eventually(t, func(ctx context.Context) error { // until both are in effect
		created, err := try(ctx)
		if err == nil && created.Data["mutated"] == "" {
			err = fmt.Errorf("the ConfigMap is not mutated")
		}
		return err
	})

	created := testserver.Must(admin.Core.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stored"}}, metav1.CreateOptions{}))(t)
	event := testserver.AuditEventOf(t, auditLog, namespace, "stored")
	read, err := time.Parse(time.RFC3339Nano, created.Data["mutated"])
	if err != nil {
		t.Fatal(err)
	}
	if want := event.RequestReceivedTimestamp.Time; !read.Equal(want) {
		t.Errorf("request.time is %s, and the request was received at %s", read, want)
	}
	if got := event.Annotations[name+"/time"]; got != created.Data["mutated"] {
		t.Errorf("the audit annotation is %q, want %q", got, created.Data["mutated"])
	}
}
