// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

func TestVersionsAgree(t *testing.T) {
	t.Parallel()
	for resource, spec := range full {
		for _, written := range versions[resource] {
			t.Run(resource+" written in "+written, func(t *testing.T) {
				sent := object(t, written, resource, testserver.UniqueName("version"), spec)
				created := create(t, raw(t, admin, written, resource), sent)
				if diff := cmp.Diff(sent.Object["spec"], created.Object["spec"]); diff != "" {
					t.Errorf("spec (-sent +created):\n%s", diff)
				}
				for _, version := range versions[resource] {
					read := testserver.Must(raw(t, admin, version, resource).Get(t.Context(), sent.GetName(), metav1.GetOptions{}))(t)
					if read.GetAPIVersion() != group+"/"+version || read.GetKind() != kinds[resource] {
						t.Errorf("%s: read as %s", version, read.GroupVersionKind())
					}
					read.SetAPIVersion(created.GetAPIVersion())
					if diff := cmp.Diff(created.Object, read.Object); diff != "" {
						t.Errorf("%s (-created +read):\n%s", version, diff)
					}
				}
			})
		}
	}
}

const matchDefaults = `
  namespaceSelector: {}
  objectSelector: {}
  matchPolicy: Equivalent
`

func TestDefaults(t *testing.T) {
	t.Parallel()
	rule := func(scope string) string {
		return `[{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]` + scope + `}]`
	}
	for name, tc := range map[string]struct {
		resource, spec, want string
	}{
		"policy": {
			resource: policies,
			spec:     `{matchConstraints: {resourceRules: ` + rule("") + `}, validations: [{expression: "true"}]}`,
			want: `
validations: [{expression: "true"}]
failurePolicy: Fail
matchConstraints:
  resourceRules: ` + rule(`, scope: "*"`) + matchDefaults,
		},
		"policy that excludes": {
			resource: policies,
			spec:     `{matchConstraints: {resourceRules: ` + rule("") + `, excludeResourceRules: ` + rule("") + `}, validations: [{expression: "true"}]}`,
			want: `
validations: [{expression: "true"}]
failurePolicy: Fail
matchConstraints:
  resourceRules: ` + rule(`, scope: "*"`) + `
  excludeResourceRules: ` + rule(`, scope: "*"`) + matchDefaults,
		},
		"binding": {
			resource: bindings,
			spec:     `{policyName: p, validationActions: [Deny]}`,
			want:     `{policyName: p, validationActions: [Deny]}`,
		},
		"mutating policy": {
			resource: mutatingPolicies,
			spec: `{matchConstraints: {resourceRules: ` + rule("") + `}, reinvocationPolicy: Never,
				mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}]"}}]}`,
			want: `
mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}]"}}]
reinvocationPolicy: Never
failurePolicy: Fail
matchConstraints:
  resourceRules: ` + rule(`, scope: "*"`) + matchDefaults,
		},
		"mutating binding": {
			resource: mutatingBindings,
			spec:     `{policyName: p, matchResources: {resourceRules: ` + rule("") + `}}`,
			want: `
policyName: p
matchResources:
  resourceRules: ` + rule(`, scope: "*"`) + matchDefaults,
		},
		"binding that matches": {
			resource: bindings,
			spec:     `{policyName: p, validationActions: [Deny], matchResources: {resourceRules: ` + rule("") + `}}`,
			want: `
policyName: p
validationActions: [Deny]
matchResources:
  resourceRules: ` + rule(`, scope: "*"`) + matchDefaults,
		},
	} {
		for _, version := range versions[tc.resource] {
			t.Run(name+" "+version, func(t *testing.T) {
				created := create(t, raw(t, admin, version, tc.resource), object(t, version, tc.resource, testserver.UniqueName("default"), tc.spec))
				if diff := cmp.Diff(any(parse(t, tc.want)), created.Object["spec"]); diff != "" {
					t.Errorf("spec (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Only the alpha version has a default for parameterNotFoundAction.
func TestParameterNotFoundActionDefault(t *testing.T) {
	t.Parallel()
	for resource, spec := range map[string]string{
		bindings:         `{policyName: p, validationActions: [Deny], paramRef: {name: limits}}`,
		mutatingBindings: `{policyName: p, paramRef: {name: limits}}`,
	} {
		for _, version := range versions[resource] {
			t.Run(resource+" "+version, func(t *testing.T) {
				client, sent := raw(t, admin, version, resource), object(t, version, resource, testserver.UniqueName("default"), spec)
				if version == "v1alpha1" {
					got, _, _ := unstructured.NestedString(create(t, client, sent).Object, "spec", "paramRef", "parameterNotFoundAction")
					if got != "Deny" {
						t.Errorf("got %q, want Deny", got)
					}
					return
				}
				_, err := client.Create(t.Context(), sent, metav1.CreateOptions{})
				if want := "spec.paramRef.parameterNotFoundAction: Required value"; !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want %s", err, want)
				}
			})
		}
	}
}

// A strategic merge patch merges lists with a key and replaces the others.
func TestPatchesOfLists(t *testing.T) {
	t.Parallel()
	const patch = `{"spec": {
		"variables": [{"name": "replicas", "expression": "object.spec.replicas + 0"}],
		"validations": [{"expression": "variables.replicas < 9"}]}}`
	const added, kept = `{name: replicas, expression: object.spec.replicas + 0}`, `{name: doubled, expression: variables.replicas * 2}`
	for kind, want := range map[types.PatchType]string{
		types.StrategicMergePatchType: `{variables: [` + added + `, ` + kept + `], validations: [{expression: variables.replicas < 9}]}`,
		types.MergePatchType:          `{variables: [` + added + `], validations: [{expression: variables.replicas < 9}]}`,
	} {
		for _, version := range versions[policies] {
			t.Run(string(kind)+" "+version, func(t *testing.T) {
				client := raw(t, admin, version, policies)
				sent := create(t, client, object(t, version, policies, testserver.UniqueName("patch"), fullPolicy))
				patched := testserver.Must(client.Patch(t.Context(), sent.GetName(), kind, []byte(patch), metav1.PatchOptions{}))(t)
				wanted := sent.Object["spec"].(map[string]any)
				for field, value := range parse(t, want) {
					wanted[field] = value
				}
				if diff := cmp.Diff(any(wanted), patched.Object["spec"]); diff != "" {
					t.Errorf("spec (-want +got):\n%s", diff)
				}
			})
		}
	}
}
