// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"celador.io/celador/test/integration/testserver"
)

// send sends a write of the resource, and returns the warnings of the response.
func send(t *testing.T, request func(client rest.Interface) *rest.Request) []string {
	t.Helper()
	var warnings []string
	result := request(policies.AdmissionregistrationV1().RESTClient()).Do(t.Context())
	if err := result.Error(); err != nil {
		t.Fatal(err)
	}
	for _, w := range result.Warnings() {
		warnings = append(warnings, w.Text)
	}
	return warnings
}

// apply applies an object as kubectl apply --server-side does, and deletes it at the end of the
// test.
func apply(t *testing.T, resource, name, kind, spec string) []string {
	t.Helper()
	t.Cleanup(func() {
		err := policies.AdmissionregistrationV1().RESTClient().Delete().Resource(resource).Name(name).Do(context.Background()).Error()
		testserver.ExpectDeleted(t, err)
	})
	return send(t, func(client rest.Interface) *rest.Request {
		body := fmt.Sprintf("apiVersion: admissionregistration.k8s.io/v1\nkind: %s\nmetadata: {name: %s}\nspec:\n%s\n", kind, name, "  "+strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  "))
		return client.Patch(types.ApplyYAMLPatchType).Resource(resource).Name(name).Param("fieldManager", "test").Body([]byte(body))
	})
}

const (
	validatingResource = "validatingadmissionpolicies"
	mutatingResource   = "mutatingadmissionpolicies"
)

// Clients that write a policy with type errors are warned, with position and spelling.
func TestWarnings(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("warnings") + ".example.com"
	define(t, widgets(t, group, "v1", "{size: {type: integer}, max-size: {type: integer}}"))
	established(t, group)
	deployments := matching("apps", "v1", "deployments")
	const replicas = "1:12: undefined field 'replcias': did you mean replicas? (apps/v1, Kind=Deployment)"
	for name, tc := range map[string]struct {
		mutating bool
		spec     string
		want     []string
	}{
		"fits": {spec: deployments + `validations: [{expression: object.spec.replicas < 5}]`},
		"misspelt": {
			spec: deployments + `validations: [{expression: object.spec.replcias < 5}]`,
			want: []string{"spec.validations[0].expression:" + replicas},
		},
		"every expression": {
			spec: deployments + `
matchConditions: [{name: c, expression: object.spec.replcias == 1}]
variables: [{name: v, expression: object.spec.replcias}]
validations: [{expression: object.spec.replcias == 1}]
auditAnnotations: [{key: k, valueExpression: "object.spec.replcias == 1 ? 'a' : 'b'"}]`,
			want: []string{
				"spec.matchConditions[0].expression:" + replicas, "spec.variables[0].expression:" + replicas,
				"spec.validations[0].expression:" + replicas, "spec.auditAnnotations[0].valueExpression:" + replicas,
			},
		},
		"wrong type": {
			spec: deployments + `validations: [{expression: "object.spec.replicas == 'five'"}]`,
			want: []string{"spec.validations[0].expression:1:22: found no matching overload for '_==_' applied to '(int, string)' (apps/v1, Kind=Deployment)"},
		},
		"custom resource": {
			spec: matching(group, "v1", "widgets") + `validations: [{expression: object.spec.sze < 5}]`,
			want: []string{"spec.validations[0].expression:1:12: undefined field 'sze': did you mean size? (" + group + "/v1, Kind=Widget)"},
		},
		"escaped": {
			spec: matching(group, "v1", "widgets") + `validations: [{expression: "!has(object.spec.max__dash__size) || object.spec.` + "`max-size`" + ` < 5"}]`,
			want: []string{"spec.validations[0].expression:1:5: undefined field 'max__dash__size': names are not escaped in policies, write `max-size` (" + group + "/v1, Kind=Widget)"},
		},
		"escaped, any type": {
			spec: matching("*", "*", "*") + `validations: [{expression: "object.metadata.labels.a__dash__b == 'c'"}]`,
			want: []string{"spec.validations[0].expression:1:23: escaped name 'a__dash__b': names are not escaped in policies, write `a-b`, or ['a__dash__b'] for a key of that very name (any type)"},
		},
		"unknown type": {spec: matching("missing.example.com", "v1", "widgets") + `validations: [{expression: object.spec.sze < 5}]`},
		"guarded": {
			spec: `
matchConstraints: {resourceRules: [{apiGroups: ["", apps], apiVersions: [v1], operations: [CREATE], resources: [pods, deployments]}]}
validations: [{expression: "!has(object.spec.replicas) || object.spec.replicas < 5"}]`,
		},
		"several types": {
			spec: `
matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [statefulsets, deployments]}]}
validations: [{expression: object.spec.replcias < 5}]`,
			want: []string{"spec.validations[0].expression:1:12: undefined field 'replcias': did you mean replicas? (apps/v1, Kind=Deployment and 1 more)"},
		},
		"very many": {
			spec: deployments + "validations:\n" + strings.Repeat("- expression: object.spec.replcias < 5\n", 100),
			want: append(func() (all []string) {
				for i := range 7 {
					all = append(all, fmt.Sprintf("spec.validations[%d].expression:%s", i, replicas))
				}
				return all
			}(), "93 more type errors: see status.typeChecking of the policy"),
		},
		"takes long to check": {spec: deployments + `validations: [{expression: "object.spec.replcias < 5 || '` + strings.Repeat("x", 50_000) + `' == ''"}]`},
		"mutation": {
			mutating: true,
			spec: deployments + `
reinvocationPolicy: Never
mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{replcias: 5}}"}}]`,
			want: []string{"spec.mutations[0].applyConfiguration.expression:1:34: undefined field 'replcias': did you mean replicas? (apps/v1, Kind=Deployment)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			resource, kind := validatingResource, "ValidatingAdmissionPolicy"
			if tc.mutating {
				resource, kind = mutatingResource, "MutatingAdmissionPolicy"
			}
			policy := testserver.UniqueName("warned")
			if got := apply(t, resource, policy, kind, tc.spec); !slices.Equal(got, tc.want) {
				t.Errorf("on create, got warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
			again := send(t, func(client rest.Interface) *rest.Request {
				return client.Patch(types.MergePatchType).Resource(resource).Name(policy).Body([]byte(`{"metadata": {"labels": {"a": "b"}}}`))
			})
			unbound := fmt.Sprintf("the policy has no effect: no %sBinding has spec.policyName %q", kind, policy)
			if want := append(slices.Clone(tc.want), unbound); !slices.Equal(again, want) {
				t.Errorf("on update, got warnings\n%s\nwant\n%s", strings.Join(again, "\n"), strings.Join(want, "\n"))
			}
			if status := send(t, func(client rest.Interface) *rest.Request {
				return client.Verb(http.MethodPatch).SetHeader("Content-Type", string(types.MergePatchType)).Resource(resource).Name(policy).SubResource("status").Body([]byte(`{}`))
			}); len(status) > 0 {
				t.Errorf("of the status, got warnings %q", status)
			}
		})
	}
}

// A binding whose policy does not exist has no effect, which nothing else says.
func TestWarningsOfBindings(t *testing.T) {
	t.Parallel()
	policy := write(t, matching("apps", "v1", "deployments")+`validations: [{expression: object.spec.replicas < 5}]`)
	for kind, missing := range map[string]string{"ValidatingAdmissionPolicyBinding": "ValidatingAdmissionPolicy", "MutatingAdmissionPolicyBinding": "MutatingAdmissionPolicy"} {
		actions := ""
		if kind == "ValidatingAdmissionPolicyBinding" {
			actions = ", validationActions: [Deny]"
		}
		want := []string{"spec.policyName: " + missing + ` "no-such-policy" does not exist, and the binding has no effect until it does`}
		got := apply(t, strings.ToLower(kind)+"s", testserver.UniqueName("warned"), kind, "{policyName: no-such-policy"+actions+"}")
		if !slices.Equal(got, want) {
			t.Errorf("%s: got warnings %q, want %q", kind, got, want)
		}
	}
	if got := apply(t, "validatingadmissionpolicybindings", testserver.UniqueName("warned"), "ValidatingAdmissionPolicyBinding", "{policyName: "+policy.Name+", validationActions: [Deny]}"); len(got) > 0 {
		t.Errorf("with a policy, got warnings %q", got)
	}
}
