// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/api/meta"

	v1 "celador.io/api/admissionregistration/v1"
)

// A status says of every expression whether it fits, and of the policy whether it works.
func TestStatus(t *testing.T) {
	t.Parallel()
	deployments := matching("apps", "v1", "deployments")
	const (
		yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
		fits             = v1.PolicyReasonNoTypeErrors
		errors           = v1.PolicyReasonTypeErrors
		notFound         = v1.PolicyReasonTypesNotFound
		notChecked       = v1.PolicyReasonTypesNotChecked
	)
	for name, tc := range map[string]struct {
		spec      string
		available metav1.ConditionStatus
		message   string // in that of Available
		checked   metav1.ConditionStatus
		reason    string
		warnings  []string // the fields with one
	}{
		"fits": {
			spec:      deployments + `validations: [{expression: object.spec.replicas < 5}]`,
			available: yes, checked: yes, reason: fits,
		},
		"wrong everywhere": {
			spec: deployments + `
matchConditions: [{name: c, expression: object.a == 1}]
variables: [{name: v, expression: object.b}]
validations: [{expression: object.c == 1, messageExpression: string(object.d)}]
auditAnnotations: [{key: k, valueExpression: string(object.e)}]`,
			available: yes, checked: no, reason: errors,
			warnings: []string{
				"spec.matchConditions[0].expression", "spec.variables[0].expression", "spec.validations[0].expression",
				"spec.validations[0].messageExpression", "spec.auditAnnotations[0].valueExpression",
			},
		},
		"built-in parameters": {
			spec: deployments + `
paramKind: {apiVersion: v1, kind: ConfigMap}
validations: [{expression: params.data.x == params.y}]`,
			available: yes, checked: no, reason: errors, warnings: []string{"spec.validations[0].expression"},
		},
		"wildcard": {
			spec:      matching("*", "*", "*") + `validations: [{expression: object.x == 1}]`,
			available: yes, checked: unknown, reason: notChecked,
		},
		"no such resource": {
			spec:      matching("apps", "v1", "deploymints") + `validations: [{expression: object.x == 1}]`,
			available: no, checked: unknown, reason: notFound,
			message: "spec.matchConstraints.resourceRules[0].resources[0]: no custom resource definition or API server serves deploymints in apps/v1",
		},
		"no such custom resource": {
			spec:      matching("missing.example.com", "v1", "widgets") + `validations: [{expression: object.x == 1}]`,
			available: no, checked: unknown, reason: notFound,
			message: "no custom resource definition or API server serves widgets in missing.example.com/v1",
		},
		"combinations that do not exist": {
			spec: `
matchConstraints: {resourceRules: [{apiGroups: ["", apps, batch], apiVersions: [v1, v2], operations: [CREATE], resources: [pods, deployments]}]}
validations: [{expression: has(object.metadata.name)}]`,
			available: yes, checked: yes, reason: fits,
		},
		"no such kind of parameters": {
			spec: deployments + `
paramKind: {apiVersion: missing.example.com/v1, kind: Limit}
validations: [{expression: object.spec.replicas < params.max}]`,
			available: no, checked: unknown, reason: notFound,
			message: "spec.paramKind: no custom resource definition or API server serves kind Limit of missing.example.com/v1",
		},
		"kind of parameters that is not stored": {
			spec: deployments + `
paramKind: {apiVersion: v1, kind: DeleteOptions}
validations: [{expression: "true"}]`,
			available: no, checked: unknown, reason: notFound, message: "spec.paramKind",
		},
		"recursive schema": {
			spec: matching("apiextensions.k8s.io", "v1", "customresourcedefinitions") +
				`validations: [{expression: "object.spec.versions.all(v, v.schema.openAPIV3Schema.properties.all(p, p != v.nosuchfield))"}]`,
			available: yes, checked: no, reason: errors, warnings: []string{"spec.validations[0].expression"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := write(t, tc.spec)
			status := expect(t, policy.Name, hasStatus(v1.PolicyConditionTypeChecked, tc.checked, tc.reason))
			available := meta.FindStatusCondition(status.Conditions, v1.PolicyConditionAvailable)
			if available == nil || available.Status != tc.available || !strings.Contains(available.Message, tc.message) || (available.Message == "") != (tc.message == "") {
				t.Errorf("got condition %v, want status %s and message %q", available, tc.available, tc.message)
			}
			if status.ObservedGeneration != policy.Generation || status.TypeChecking == nil {
				t.Fatalf("got generation %d and typeChecking %v, want %d and an outcome", status.ObservedGeneration, status.TypeChecking, policy.Generation)
			}
			var fields []string
			for _, warning := range status.TypeChecking.ExpressionWarnings {
				fields = append(fields, warning.FieldRef)
			}
			if got, want := fmt.Sprint(fields), fmt.Sprint(tc.warnings); got != want {
				t.Errorf("got warnings about %s, want %s", got, want)
			}
		})
	}
}
