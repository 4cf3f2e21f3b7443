// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"
)

// boundBinding is a binding of the policies of TestBindingsInCompany.
type boundBinding struct {
	name, spec string
	// mismatch is why the binding does not apply to the request, whatever the policy and its other
	// bindings are.
	mismatch string
	fallback bool
}

// paramRef returns the field paramRef for the ConfigMaps with a label.
func paramRef(label, notFound string) string {
	return "paramRef: {namespace: default, selector: {matchLabels: {set: " + label + "}}, parameterNotFoundAction: " + notFound + "}"
}

// boundBindings returns bindings of all kinds.
func boundBindings() []boundBinding {
	const (
		elsewhere = "matchResources: {namespaceSelector: {matchLabels: {team: other}}}"
		noParams  = "paramRef of the binding selects no object"
	)
	bindings := []boundBinding{
		{name: "plain"},
		{name: "elsewhere", spec: elsewhere, mismatch: "matchResources of the binding: namespaceSelector does not match"},
		{name: "kept", spec: paramRef("kept", "Deny")},
		{name: "skipped", spec: paramRef("skipped", "Deny")},
		{name: "mixed", spec: paramRef("mixed", "Deny")},
		{name: "none", spec: paramRef("none", "Allow"), mismatch: noParams},
		{name: "none-denied", spec: paramRef("none", "Deny")},
	}
	for _, b := range slices.Clone(bindings) {
		b.name, b.fallback = "fallback-"+b.name, true
		b.spec = strings.TrimPrefix(b.spec+"\n  bindingType: Fallback", "\n  ")
		bindings = append(bindings, b)
	}
	return bindings
}

const bindingParams = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default, labels: {set: kept}}
data: {skip: "false"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: default, labels: {set: skipped}}
data: {skip: "true"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: default, labels: {set: mixed}}
data: {skip: "true"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: d, namespace: default, labels: {set: mixed}}
data: {skip: "false"}
`

// TestBindingsInCompany tests that the review of a policy through a binding does not depend on the
// policy's other bindings, except that a fallback does not apply beside a binding that does.
func TestBindingsInCompany(t *testing.T) {
	restore, err := clustertest.Backend.EnableFeatures(map[string]bool{"ValidatingAdmissionPolicyFallbackBinding": true, "MutatingAdmissionPolicyFallbackBinding": true})
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	bodies := map[string][]string{
		cluster.ValidatingKind: {
			"validations: [{expression: 'true'}]",
			"validations: [{expression: 'false'}]",
			"auditAnnotations: [{key: a, valueExpression: 'null'}]",
		},
		cluster.MutatingKind: {
			"reinvocationPolicy: Never\n  mutations: [" + clustertest.Apply("Object{}") + "]",
			"reinvocationPolicy: Never\n  mutations: [" + clustertest.JSONPatch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]") + "]",
			"reinvocationPolicy: Never\n  mutations: [" + clustertest.JSONPatch("[JSONPatch{op: 'remove', path: '/spec/nothing'}]") + "]",
		},
	}
	conditions := []string{
		"",
		"matchConditions: [{name: a, expression: 'false'}]",
		"matchConditions: [{name: a, expression: params == null || params.data.skip == 'false'}]",
		"matchConditions: [{name: a, expression: params != null && params.data.skip == 'false'}]",
		"matchConditions: [{name: a, expression: params.data.skip == 'false'}]", // fails without params
	}
	for kind, bodies := range bodies {
		bindings := boundBindings()
		for i, body := range bodies {
			for j, condition := range conditions {
				for _, failurePolicy := range []string{"Fail", "Ignore"} {
					policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: %s
metadata: {name: policy}
spec:
  failurePolicy: %s
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  %s
  %s
`, kind, failurePolicy, condition, body)
					testBindings(t, kind, policy, bindings, i == 0 && j%2 == 1 && failurePolicy == "Fail")
				}
			}
		}
	}
}

// testBindings compares the review of each binding alone with its review beside all others, and
// with pairs also beside each other one.
func testBindings(t *testing.T, kind, policy string, bindings []boundBinding, pairs bool) {
	alone := map[string]cluster.PolicyReview{}
	for _, b := range bindings {
		review := reviewBindings(t, kind, policy, b)[0]
		if b.mismatch != "" {
			want := cluster.PolicyReview{Kind: kind, Policy: "policy", Binding: b.name, Effect: cluster.NotMatched, Reason: b.mismatch}
			if diff := cmp.Diff(want, review); diff != "" {
				t.Errorf("binding %s of%s\ndiffers (-want +got):\n%s", b.name, policy, diff)
			}
		} else if review.Effect == cluster.NotMatched || review.Effect == cluster.NotReached {
			t.Errorf("binding %s of%s\ndoes not apply: %+v", b.name, policy, review)
		}
		alone[b.name] = review
	}
	test := func(company ...boundBinding) {
		regular := slices.ContainsFunc(company, func(b boundBinding) bool { return !b.fallback && b.mismatch == "" })
		for i, got := range reviewBindings(t, kind, policy, company...) {
			b := company[i]
			effect, reason := alone[b.name].Effect, alone[b.name].Reason
			if b.fallback && regular && b.mismatch == "" {
				effect, reason = cluster.NotMatched, "the binding is a fallback and another one applies"
			}
			if got.Effect != effect || got.Reason != reason {
				t.Errorf("binding %s of%s\nbeside %+v is %s %q, want %s %q", b.name, policy, company, got.Effect, got.Reason, effect, reason)
			}
		}
	}
	test(bindings...)
	if !pairs {
		return
	}
	for i, a := range bindings {
		for _, b := range bindings[i+1:] {
			test(a, b)
		}
	}
}

// reviewBindings returns the reviews of a policy through bindings in the order of the bindings.
func reviewBindings(t *testing.T, kind, policy string, bindings ...boundBinding) []cluster.PolicyReview {
	t.Helper()
	documents := []string{policy, bindingParams}
	for _, b := range bindings {
		spec := b.spec
		if kind == cluster.ValidatingKind {
			spec = strings.TrimPrefix(spec+"\n  validationActions: [Audit]", "\n  ")
		}
		documents = append(documents, fmt.Sprintf(
			"apiVersion: admissionregistration.k8s.io/v1\nkind: %sBinding\nmetadata: {name: %s}\nspec:\n  policyName: policy\n  %s\n", kind, b.name, spec))
	}
	review := clustertest.Admit(t, clustertest.New(t, clustertest.Backend, strings.Join(documents, "\n---\n")), &cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(t, "3")})
	found := make([]cluster.PolicyReview, len(bindings))
	for i, b := range bindings {
		at := slices.IndexFunc(review.Policies, func(p cluster.PolicyReview) bool { return p.Kind == kind && p.Binding == b.name })
		if at < 0 {
			t.Fatalf("%s is not reviewed", b.name)
		}
		found[i] = review.Policies[at]
	}
	return found
}
