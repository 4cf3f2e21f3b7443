// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
)

// The fuzz tests search for objects on which validation panics, or returns other errors than a
// stock kube-apiserver for the fields that Kubernetes has.

func FuzzValidatePolicy(f *testing.F) {
	full := patched(f, validPolicy, `
metadata: {labels: {a: b}, annotations: {c: d}, finalizers: [e.example.com/f]}
spec:
  failurePolicy: Ignore
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    matchPolicy: Exact
    namespaceSelector: {matchLabels: {a: b}}
    objectSelector: {matchExpressions: [{key: a, operator: In, values: [b, c]}]}
    resourceRules:
    - {apiGroups: [''], apiVersions: ['*'], resources: [pods, 'pods/*', '*/scale'], operations: [CREATE, DELETE], scope: Namespaced, resourceNames: [a]}
    excludeResourceRules:
    - {apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'], scope: Cluster}
  matchConditions: [{name: a, expression: params.x == object.x}]
  variables: [{name: a, expression: '1'}, {name: b, expression: variables.a + 1}]
  validations: [{expression: variables.b == 2, message: no, messageExpression: string(variables.a), reason: Forbidden}]
  auditAnnotations: [{key: a, valueExpression: string(variables.b)}]`)
	f.Add(full, []byte(nil), true)
	f.Add(full, patched(f, string(full), "spec: {paramKind: null, matchConditions: null}"), true)
	f.Add(patched(f, string(full), "spec: {variables: null}"), full, false)
	for _, manifest := range []string{
		"null", "{}", `{"spec": null}`, `{"metadata": {"name": "a.static.k8s.io"}}`,
		`{"spec": {"policyType": "Singleton", "typeChecking": "", "paramKind": {}, "validations": [{"failurePolicy": ""}, {"failurePolicy": "Ignore"}]}}`,
		`{"spec": {"failurePolicy": "", "paramKind": {}, "matchConstraints": {}, "matchConditions": [null], "variables": [null], "validations": [null], "auditAnnotations": [null]}}`,
		`{"spec": {"matchConstraints": {"resourceRules": [null, {"scope": "", "operations": [""], "resources": ["", "/", "*/", "/*", "*/*/*"]}], "excludeResourceRules": [null], "namespaceSelector": {"matchExpressions": [null]}}}}`,
		`{"spec": {"paramKind": {"apiVersion": "/", "kind": "/"}, "validations": [{"reason": "", "message": " ", "messageExpression": " "}]}}`,
	} {
		f.Add([]byte(manifest), []byte(nil), true)
		f.Add([]byte(manifest), []byte(nil), false)
		f.Add([]byte(manifest), []byte(manifest), true)
		f.Add(full, []byte(manifest), true)
	}
	f.Fuzz(func(t *testing.T, manifest, old []byte, defaults bool) {
		compare(t, manifest, old, defaulting(defaults), ourPolicy, stockPolicy)
	})
}

func FuzzValidateExpressions(f *testing.F) {
	valid := patched(f, validPolicy, "")
	f.Add("object == null", "object.spec.replicas", "variables.a <= 5", "string(variables.a)", "'a'", false, false)
	f.Add("params.x", "params", "variables.b > 1", "authorizer", "null", true, true)
	f.Add("", " ", "1 +", "\n", "'", false, true)
	f.Add("[1].map(x, x)", "[1, 'a']", "variables.a.exists(x, x == 1)", "{'a': 1}", "dyn(1)", true, false)
	f.Add("duration('x')", "optional.of(1)", "'a'.matches('[')", "b'a'", "``", false, true)
	f.Fuzz(func(t *testing.T, condition, variable, validation, message, value string, params, update bool) {
		fields := fmt.Sprintf(`"matchConditions": [{"name": "a", "expression": %s}], "variables": [{"name": "a", "expression": %s}],
			"validations": [{"expression": %s, "messageExpression": %s}], "auditAnnotations": [{"key": "a", "valueExpression": %s}]`,
			quoted(condition), quoted(variable), quoted(validation), quoted(message), quoted(value))
		if params {
			fields += `, "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}`
		}
		manifest := merged(t, valid, []byte(`{"spec": {`+fields+`}}`))
		var old []byte
		if update {
			old = merged(t, valid, []byte(`{"spec": {"validations": [{"expression": `+quoted(validation)+`}]}}`))
		}
		compare(t, manifest, old, withDefaults, ourPolicy, stockPolicy)
	})
}

func FuzzValidateStatus(f *testing.F) {
	valid := patched(f, validPolicy, "")
	for _, ref := range []string{"spec.validations[0].expression", " spec ", "", "[", "..", "]", "{", "}", "spec[?(@.a==1)]", "'", "range", "$", "a[1:2:0]", "\\"} {
		f.Add(ref, "no such field", "Ready", "AllGood")
	}
	f.Fuzz(func(t *testing.T, ref, warning, condition, reason string) {
		manifest := merged(t, valid, fmt.Appendf(nil,
			`{"status": {"typeChecking": {"expressionWarnings": [{"fieldRef": %s, "warning": %s}]}, "conditions": [{"type": %s, "reason": %s}, {"type": %[3]s}],
			"observedCustomResources": [{"group": %[1]s, "version": %[2]s, "kind": %[3]s}, {"generation": -1}, {}]}}`,
			quoted(ref), quoted(warning), quoted(condition), quoted(reason)))
		compare(t, manifest, manifest, withDefaults, ourStatus, stockStatus)
		validating, err := ourStatus(manifest, manifest, withDefaults)
		if err != nil {
			return
		}
		mutating, err := ourMutatingStatus(manifest, manifest, withDefaults)
		if diff := cmp.Diff(texts(validating), texts(mutating)); diff != "" || err != nil {
			t.Errorf("errors for %s (-validating +mutating):\n%s\n%v", manifest, diff, err)
		}
	})
}

func FuzzValidateBinding(f *testing.F) {
	full := patched(f, validBinding, `
spec:
  paramRef: {name: a, namespace: b, parameterNotFoundAction: Deny}
  matchResources: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]}
  validationActions: [Warn, Audit]`)
	for _, manifest := range [][]byte{
		full,
		[]byte("null"),
		[]byte(`{"spec": {"bindingType": "Fallback", "paramRef": {}}}`),
		[]byte(`{"spec": {"paramRef": {}, "matchResources": {}, "validationActions": [""]}}`),
		[]byte(`{"spec": {"paramRef": {"name": "/", "selector": {"matchExpressions": [null]}, "parameterNotFoundAction": ""}, "validationActions": ["Deny", "Warn", "Deny"]}}`),
	} {
		f.Add(manifest, []byte(nil), true)
		f.Add(manifest, full, true)
		f.Add(full, manifest, false)
	}
	f.Fuzz(func(t *testing.T, manifest, old []byte, defaults bool) {
		compare(t, manifest, old, defaulting(defaults), ourBinding, stockBinding)
	})
}

func FuzzValidateMutatingPolicy(f *testing.F) {
	full := patched(f, validMutatingPolicy, `
metadata: {labels: {a: b}}
spec:
  failurePolicy: Ignore
  typeChecking: Enforced
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    matchPolicy: Exact
    resourceRules: [{apiGroups: [''], apiVersions: ['*'], resources: [pods], operations: [CREATE, '*', CONNECT, DELETE], scope: Namespaced}]
    excludeResourceRules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: [DELETE]}]
  matchConditions: [{name: a, expression: params.x == object.x}]
  variables: [{name: a, expression: '1'}, {name: b, expression: variables.a + 1}]
  mutations:
  - {patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "add", path: "/a", value: variables.b}]'}}
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{spec: Object.spec{replicas: params.x}}'}, condition: 'true', message: a, reason: Invalid}
  - {expression: 'null', reinvocationPolicy: Never}
  reinvocationPolicy: IfNeeded`)
	f.Add(full, []byte(nil), true)
	f.Add(full, patched(f, string(full), "spec: {paramKind: null, matchConditions: null}"), true)
	f.Add(patched(f, string(full), "spec: {variables: null}"), full, false)
	for _, manifest := range []string{
		"null", "{}", `{"spec": null}`,
		`{"spec": {"failurePolicy": "", "paramKind": {}, "matchConstraints": {}, "matchConditions": [null], "variables": [null], "mutations": [null], "reinvocationPolicy": ""}}`,
		`{"spec": {"mutations": [{"patchType": "JSONMergePatch", "jsonMergePatch": {}}, {"patchType": "JSONPatch", "strategicMergePatch": {}, "applyConfiguration": {}}, {"expression": "1"}]}}`,
		`{"spec": {"mutations": [{"patchType": "", "jsonPatch": {"expression": "["}}, {"patchType": "ApplyConfiguration", "jsonPatch": {}, "applyConfiguration": {"expression": " "}}]}}`,
	} {
		f.Add([]byte(manifest), []byte(nil), true)
		f.Add([]byte(manifest), []byte(manifest), false)
		f.Add(full, []byte(manifest), true)
	}
	f.Fuzz(func(t *testing.T, manifest, old []byte, defaults bool) {
		compare(t, manifest, old, defaulting(defaults), ourMutatingPolicy, stockMutatingPolicy)
		_, _ = ourInlinePolicy(manifest, old, defaulting(defaults)) // must not panic
	})
}

func FuzzValidateMutations(f *testing.F) {
	valid := patched(f, validMutatingPolicy, "")
	f.Add("variables.a", "[JSONPatch{op: 'add', path: '/a', value: variables.a}]", "Object{a: variables.a}")
	f.Add("JSONPatch{}", "[JSONPatch{op: 1}]", "Object{a: Object.b{}}")
	f.Add("", "[]", "Object{?a: object.?a}")
	f.Add("1 +", "jsonpatch.escapeKey('a')", "{'a': 1}")
	f.Add("object", "object.map(o, JSONPatch{from: o})", "Object.spec{}")
	f.Fuzz(func(t *testing.T, variable, patch, configuration string) {
		manifest := merged(t, valid, fmt.Appendf(nil, `{"spec": {"variables": [{"name": "a", "expression": %s}], "mutations": [
			{"patchType": "JSONPatch", "jsonPatch": {"expression": %s}}, {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": %s}}]}}`,
			quoted(variable), quoted(patch), quoted(configuration)))
		compare(t, manifest, nil, withDefaults, ourMutatingPolicy, stockMutatingPolicy)
	})
}

func FuzzValidateMutatingBinding(f *testing.F) {
	full := patched(f, validMutatingBinding, `
spec:
  paramRef: {name: a, namespace: b, parameterNotFoundAction: Deny}
  matchResources: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [DELETE]}]}`)
	for _, manifest := range [][]byte{full, []byte("null"), []byte(`{"spec": {"paramRef": {}, "matchResources": {}}}`)} {
		f.Add(manifest, []byte(nil), true)
		f.Add(manifest, full, true)
		f.Add(full, manifest, false)
	}
	f.Fuzz(func(t *testing.T, manifest, old []byte, defaults bool) {
		compare(t, manifest, old, defaulting(defaults), ourMutatingBinding, stockMutatingBinding)
	})
}

// compare compares the errors of both validators for an object.
func compare(t *testing.T, manifest, old []byte, defaults defaulting, ours, stock validator) {
	if len(old) == 0 {
		old = nil
	}
	got, err := ours(manifest, old, defaults)
	if err != nil {
		return // a request with this object is rejected before validation
	}
	// Besides the wanted differences, strategies check reserved names, stored expressions may keep
	// a function that is new in 1.37, and stored mutations may keep their patch type.
	if strings.Contains(string(manifest), ".static.k8s.io") || strings.Contains(string(old), "includes") || hasOtherPatchType(old) {
		return
	}
	want, err := stock(manifest, old, defaults)
	if err != nil {
		t.Fatalf("decoding %s as stock types: %v", manifest, err)
	}
	if diff := diff(causes(want), causes(shared(got))); diff != "" {
		t.Errorf("errors for %s\nas an update of %s (-stock +got):\n%s", manifest, old, diff)
	}
}

// hasOtherPatchType reports whether a policy has a patch type that Kubernetes does not have.
func hasOtherPatchType(manifest []byte) bool {
	policy := v1.MutatingAdmissionPolicy{}
	if json.Unmarshal(manifest, &policy) != nil {
		return false
	}
	return slices.ContainsFunc(policy.Spec.Mutations, func(m v1.Mutation) bool {
		return !slices.Contains(policyspec.PatchTypes(nil), m.PatchType)
	})
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(text)
}
