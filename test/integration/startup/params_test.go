// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// restarts is the number of starts after which no request may be denied without a reason.
const restarts = 5

// A paramKind is a kind of params with one object, whose field "max" or data entry "max" is 3.
type paramKind struct {
	resource   schema.GroupVersionResource
	kind       string
	definition string
	// max is the expression of the limit.
	max string
}

var paramKinds = []paramKind{
	{
		resource: schema.GroupVersionResource{Group: "first.example.com", Version: "v1", Resource: "limits"}, kind: "Limit",
		definition: limitDefinition("first.example.com"), max: "params.max",
	},
	{
		resource: schema.GroupVersionResource{Group: "second.example.com", Version: "v1", Resource: "limits"}, kind: "Limit",
		definition: limitDefinition("second.example.com"), max: "params.max",
	},
	{resource: corev1.SchemeGroupVersion.WithResource("configmaps"), kind: "ConfigMap", max: "int(params.data.max)"},
}

func limitDefinition(group string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: limits.` + group + `}
spec:
  group: ` + group + `
  names: {kind: Limit, plural: limits}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {max: {type: integer}}}}}`
}

// Once a server is ready, no request is denied because params of stored policies are not known yet.
func TestParamsAreKnownAfterStart(t *testing.T) {
	dir := t.TempDir()
	server := testserver.Start(t, dir)
	client := clientsOf(server)
	for _, kind := range paramKinds {
		client.limitBy(t, kind)
	}
	testserver.Eventually(t, client.checkLimits)
	server.Stop()
	for i := range restarts {
		t.Run(fmt.Sprint("start ", i+1), func(t *testing.T) {
			if err := clientsOf(testserver.Start(t, dir)).checkLimits(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// limitBy defines a kind, and stores an object of it with a validating and a mutating policy that
// read it for leases.
func (c clients) limitBy(t *testing.T, kind paramKind) {
	t.Helper()
	name := strings.TrimSuffix(strings.ToLower(kind.kind)+"."+kind.resource.Group, ".")
	if kind.definition != "" {
		definition := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, kind.definition)}
		definitions := c.Objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
		testserver.Must(definitions.Create(t.Context(), definition, metav1.CreateOptions{}))(t)
	}
	param := &unstructured.Unstructured{Object: map[string]any{"max": int64(3), "data": map[string]any{"max": "3"}}}
	param.SetAPIVersion(kind.resource.GroupVersion().String())
	param.SetKind(kind.kind)
	param.SetName(name)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := c.Objects.Resource(kind.resource).Namespace("default").Create(ctx, param, metav1.CreateOptions{FieldValidation: "Ignore"})
		return err
	})

	policies, meta := c.Policies.AdmissionregistrationV1(), metav1.ObjectMeta{Name: name}
	paramKind := &v1.ParamKind{APIVersion: kind.resource.GroupVersion().String(), Kind: kind.kind}
	paramRef := &v1.ParamRef{Name: name, Namespace: "default", ParameterNotFoundAction: new(v1.DenyAction)}
	constraints := &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.Create, v1.Update},
		Rule:       v1.Rule{APIGroups: []string{"coordination.k8s.io"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
	}}}}
	testserver.Must(policies.ValidatingAdmissionPolicies().Create(t.Context(), &v1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: v1.ValidatingAdmissionPolicySpec{
		ParamKind: paramKind, MatchConstraints: constraints,
		Validations: []v1.Validation{{Expression: "!has(object.spec.leaseTransitions) || object.spec.leaseTransitions <= " + kind.max, Message: "too many for " + name}},
	}}, metav1.CreateOptions{}))(t)
	testserver.Must(policies.ValidatingAdmissionPolicyBindings().Create(t.Context(), &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: v1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name, ParamRef: paramRef, ValidationActions: []v1.ValidationAction{v1.Deny},
	}}, metav1.CreateOptions{}))(t)
	testserver.Must(policies.MutatingAdmissionPolicies().Create(t.Context(), &v1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: v1.MutatingAdmissionPolicySpec{
		ParamKind: paramKind, MatchConstraints: constraints, ReinvocationPolicy: v1.NeverReinvocationPolicy,
		Mutations: []v1.Mutation{{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{
			Expression: `[JSONPatch{op: "add", path: "/metadata/annotations", value: {"max": string(` + kind.max + `)}}]`,
		}}},
	}}, metav1.CreateOptions{}))(t)
	testserver.Must(policies.MutatingAdmissionPolicyBindings().Create(t.Context(), &v1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: v1.MutatingAdmissionPolicyBindingSpec{
		PolicyName: name, ParamRef: paramRef,
	}}, metav1.CreateOptions{}))(t)
}

// checkLimits returns an error unless leases are subject to the params.
func (c clients) checkLimits(ctx context.Context) error {
	created, err := c.createLease(ctx, 3)
	if err != nil {
		return fmt.Errorf("a lease within the limits: %w", err)
	}
	if created.Annotations["max"] != "3" {
		return fmt.Errorf("a lease within the limits has annotations %v, want those of the mutating policies", created.Annotations)
	}
	if _, err := c.createLease(ctx, 4); err == nil || !strings.Contains(err.Error(), "too many") {
		return fmt.Errorf("a lease beyond the limits: got error %v, want a denial", err)
	}
	return nil
}

// createLease validates a lease with the number of transitions without storing it.
func (c clients) createLease(ctx context.Context, transitions int32) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{GenerateName: "lease-"}, Spec: coordinationv1.LeaseSpec{LeaseTransitions: &transitions}}
	return c.Core.CoordinationV1().Leases("default").Create(ctx, lease, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}
