// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

func TestInvalidObjects(t *testing.T) {
	t.Parallel()
	const rules = `matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}`
	for name, tc := range map[string]struct {
		resource, spec string
		// want maps the path of each invalid field to its error.
		want map[string]string
	}{
		"empty policy": {
			resource: policies,
			spec:     `{}`,
			want: map[string]string{
				"spec.matchConstraints": "Required value",
				"spec.validations":      "Required value: validations or auditAnnotations must contain at least one item",
				"spec.auditAnnotations": "Required value: validations or auditAnnotations must contain at least one item",
			},
		},
		"enums": {
			resource: policies,
			spec: `
failurePolicy: Perhaps
matchConstraints:
  matchPolicy: Alike
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [READ], resources: [pods], scope: Galaxy}]
validations: [{expression: "true", reason: Because}]
`,
			want: map[string]string{
				"spec.failurePolicy":                                   `Unsupported value: "Perhaps": supported values: "Fail", "Ignore"`,
				"spec.matchConstraints.matchPolicy":                    `Unsupported value: "Alike": supported values: "Equivalent", "Exact"`,
				"spec.matchConstraints.resourceRules[0].operations[0]": `Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
				"spec.matchConstraints.resourceRules[0].scope":         `Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"`,
				"spec.validations[0].reason":                           `Unsupported value: "Because": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`,
			},
		},
		"syntax": {
			resource: policies,
			spec: rules + `
validations:
- expression: "true"
- expression: |-
    object.metadata.name != '' &&
      object.spec.replicas <=
`,
			want: map[string]string{
				"spec.validations[1].expression": `Invalid value: "object.metadata.name != '' &&\n  object.spec.replicas <=": compilation failed: ` +
					"ERROR: <input>:2:26: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n" +
					" |   object.spec.replicas <=\n" +
					" | .........................^",
			},
		},
		"declarations": {
			resource: policies,
			spec: rules + `
validations:
- expression: variables.missing && params.ok
  messageExpression: authorizer.path('/healthz').check('get').reason()
matchConditions: [{name: c, expression: newObject.kind == ''}]
variables: [{name: v, expression: obj}]
auditAnnotations: [{key: k, valueExpression: "1"}]
`,
			want: map[string]string{
				"spec.validations[0].expression": `Invalid value: "variables.missing && params.ok": compilation failed: ` +
					"ERROR: <input>:1:10: undefined field 'missing'\n" +
					" | variables.missing && params.ok\n" +
					" | .........^\n" +
					"ERROR: <input>:1:22: undeclared reference to 'params' (in container '')\n" +
					" | variables.missing && params.ok\n" +
					" | .....................^",
				"spec.validations[0].messageExpression": `Invalid value: "authorizer.path('/healthz').check('get').reason()": compilation failed: ` +
					"ERROR: <input>:1:1: undeclared reference to 'authorizer' (in container '')\n" +
					" | authorizer.path('/healthz').check('get').reason()\n" +
					" | ^",
				"spec.matchConditions[0].expression": `Invalid value: "newObject.kind == ''": compilation failed: ` +
					"ERROR: <input>:1:1: undeclared reference to 'newObject' (in container '')\n" +
					" | newObject.kind == ''\n" +
					" | ^",
				"spec.variables[0].expression": `Invalid value: "obj": compilation failed: ` +
					"ERROR: <input>:1:1: undeclared reference to 'obj' (in container '')\n" +
					" | obj\n" +
					" | ^",
				"spec.auditAnnotations[0].valueExpression": `Invalid value: "1": must evaluate to one of [string null_type] but got int`,
			},
		},
		"duplicates": {
			resource: policies,
			spec: rules + `
validations: [{expression: "true"}]
matchConditions: [{name: a, expression: "true"}, {name: a, expression: "true"}]
auditAnnotations: [{key: a, valueExpression: "'one'"}, {key: a, valueExpression: "'two'"}]
`,
			want: map[string]string{
				"spec.matchConditions[1].name": `Duplicate value: "a"`,
				"spec.auditAnnotations[1].key": `Duplicate value: "a"`,
			},
		},
		"empty binding": {
			resource: bindings,
			spec:     `{}`,
			want: map[string]string{
				"spec.policyName":        "Required value",
				"spec.validationActions": `Required value: supported values: "Audit", "Deny", "Warn"`,
			},
		},
		"contradictory binding": {
			resource: bindings,
			spec: `
policyName: p
validationActions: [Deny, Warn]
paramRef: {name: a, selector: {}, parameterNotFoundAction: Deny}
matchResources: {resourceRules: [{apiGroups: ["*", a], apiVersions: [v1], operations: [CREATE], resources: ["*", pods]}]}
`,
			want: map[string]string{
				"spec.paramRef.name":                             "Forbidden: name and selector are mutually exclusive",
				"spec.paramRef.selector":                         "Forbidden: name and selector are mutually exclusive",
				"spec.matchResources.resourceRules[0].apiGroups": `Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`,
				"spec.matchResources.resourceRules[0].resources": `Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
				"spec.validationActions": `Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn ` +
					`(repeating the same validation failure information in the API response and headers serves no purpose)`,
			},
		},
	} {
		for _, version := range versions[tc.resource] {
			t.Run(name+" "+version, func(t *testing.T) {
				_, err := raw(t, admin, version, tc.resource).Create(t.Context(), object(t, version, tc.resource, testserver.UniqueName("invalid"), tc.spec), metav1.CreateOptions{})
				expectCauses(t, err, tc.want)
			})
		}
	}
}

// Invalid updates are rejected and leave the stored object as it was.
func TestInvalidUpdate(t *testing.T) {
	t.Parallel()
	client := raw(t, admin, "v1", policies)
	stored := create(t, client, object(t, "v1", policies, testserver.UniqueName("invalid"), policy(`validations: [{expression: "true"}]`)))
	patch := []byte(`[{"op": "replace", "path": "/spec/validations/0/expression", "value": "1"}]`)
	_, err := client.Patch(t.Context(), stored.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{})
	expectCauses(t, err, map[string]string{"spec.validations[0].expression": `Invalid value: "1": must evaluate to bool but got int`})
	if got := testserver.Must(client.Get(t.Context(), stored.GetName(), metav1.GetOptions{}))(t); got.GetResourceVersion() != stored.GetResourceVersion() {
		t.Errorf("the refused update was stored: %v", got)
	}
}

// Strict clients such as kubectl receive an error for an unknown field.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	client := raw(t, admin, "v1", policies)
	sent := object(t, "v1", policies, testserver.UniqueName("unknown"), policy(`validations: [{expression: "true", severity: high}]`))
	_, err := client.Create(t.Context(), sent, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if want := `unknown field "spec.validations[0].severity"`; !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want a bad request with %s", err, want)
	}
}

// A body of another kind is rejected with Kubernetes' message.
func TestOtherKinds(t *testing.T) {
	t.Parallel()
	for resource, kind := range kinds {
		for _, version := range versions[resource] {
			client := raw(t, admin, version, resource)
			for _, other := range []schema.GroupVersionKind{{Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "Deployment"}} {
				sent := object(t, version, resource, testserver.UniqueName("other"), "{}")
				sent.SetGroupVersionKind(other)
				_, err := client.Create(t.Context(), sent, metav1.CreateOptions{})
				want := other.Kind + ` in version "v1" cannot be handled as a ` + kind + `: converting (v1.` + other.Kind + `) to (admissionregistration.` + kind + `): unknown conversion`
				if !apierrors.IsBadRequest(err) || err.Error() != want {
					t.Errorf("%s %s: got  %v\nwant %s", version, resource, err, want)
				}
			}
		}
	}
}

// expectCauses checks that the error has a cause for each field.
func expectCauses(t *testing.T, err error, want map[string]string) {
	t.Helper()
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		t.Fatalf("got error %v, want an invalid one", err)
	}
	got := map[string]string{}
	for _, cause := range status.Status().Details.Causes {
		got[cause.Field] = cause.Message
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}
