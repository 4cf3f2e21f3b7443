// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
)

// brokenMapper fails for resources named "unknowables".
type brokenMapper struct{ meta.RESTMapper }

func (m brokenMapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	if r.Resource == "unknowables" {
		return nil, errors.New("discovery is down")
	}
	return m.RESTMapper.KindsFor(r)
}

// brokenSchemas fails for Secrets, and returns a nil schema for Nodes.
type brokenSchemas struct{ schemas }

func (s brokenSchemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	switch kind.Kind {
	case "Secret":
		return nil, errors.New("documents are being built")
	case "Node":
		return nil, nil
	default:
		return s.schemas.ResolveSchema(kind)
	}
}

func TestTypes(t *testing.T) {
	core := func(kind string) schema.GroupVersionKind { return schema.GroupVersionKind{Version: "v1", Kind: kind} }
	resource := func(group, version, name string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: group, Version: version, Resource: name}
	}
	event, otherEvent := core("Event"), schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}
	described := brokenSchemas{builtIn.with(event, objectOf(nil)).with(otherEvent, objectOf(nil))}
	mapper := brokenMapper{mapperFor(deployment, replicaSet, pod, configMap, secret, event, otherEvent, core("Node"), core("Service"))}
	const first = "spec.matchConstraints.resourceRules[0]"
	for name, test := range map[string]struct {
		policy    *v1.ValidatingAdmissionPolicy
		types     []schema.GroupVersionKind
		params    schema.GroupVersionKind
		unchecked []typecheck.Unchecked
	}{
		"sorted, each once": {
			policy: policy("true", rule("apps", "v1", "replicasets", "deployments"), rule("", "v1", "pods"), rule("apps", "v1", "deployments")),
			types:  []schema.GroupVersionKind{pod, deployment, replicaSet},
		},
		"core group only": {policy: policy("true", rule("", "v1", "events")), types: []schema.GroupVersionKind{event}},
		"other group":     {policy: policy("true", rule("events.k8s.io", "v1", "events")), types: []schema.GroupVersionKind{otherEvent}},
		"unknown resource": {
			policy:    policy("true", rule("apps", "v1", "nothings", "deployments")),
			types:     []schema.GroupVersionKind{deployment},
			unchecked: []typecheck.Unchecked{{Field: first, Resource: resource("apps", "v1", "nothings"), Reason: typecheck.UnknownResource}},
		},
		"known in another group": {
			policy:    policy("true", rule("", "v1", "deployments")),
			unchecked: []typecheck.Unchecked{{Field: first, Resource: resource("", "v1", "deployments"), Reason: typecheck.UnknownResource}},
		},
		"mapper is broken": {
			policy:    policy("true", rule("apps", "v1", "unknowables")),
			unchecked: []typecheck.Unchecked{{Field: first, Resource: resource("apps", "v1", "unknowables"), Reason: typecheck.Unavailable}},
		},
		"schemas are missing": {
			policy: policy("true", rule("", "v1", "services", "secrets", "pods"), rule("", "v1", "nodes")),
			types:  []schema.GroupVersionKind{pod},
			unchecked: []typecheck.Unchecked{
				{Field: "spec.matchConstraints.resourceRules[1]", Resource: resource("", "v1", "nodes"), Kind: core("Node"), Reason: typecheck.NoSchema},
				{Field: first, Resource: resource("", "v1", "secrets"), Kind: secret, Reason: typecheck.Unavailable},
				{Field: first, Resource: resource("", "v1", "services"), Kind: core("Service"), Reason: typecheck.NoSchema},
			},
		},
		"wildcards": {
			policy: policy("true", rule("*", "v1", "pods"), rule("", "*", "pods"), rule("", "v1", "pods", "*", "*/scale"), rule("", "v1", "pods/*", "pods/status")),
			types:  []schema.GroupVersionKind{pod},
			unchecked: []typecheck.Unchecked{
				{Field: first + ".apiGroups", Reason: typecheck.Wildcard},
				{Field: "spec.matchConstraints.resourceRules[1].apiVersions", Reason: typecheck.Wildcard},
				{Field: "spec.matchConstraints.resourceRules[2].resources[1]", Reason: typecheck.Wildcard},
				{Field: "spec.matchConstraints.resourceRules[2].resources[2]", Reason: typecheck.Wildcard},
				{Field: "spec.matchConstraints.resourceRules[3].resources[0]", Reason: typecheck.Wildcard},
				{Field: "spec.matchConstraints.resourceRules[3].resources[1]", Reason: typecheck.Subresource},
			},
		},
		"ten and more": {
			policy: policy("true",
				rule("", "v1", "pods", "pods", "pods", "pods", "pods", "pods", "pods", "pods", "pods", "pods", "replicasets"),
				rule("apps", "v1", "deployments"), rule("apps", "v1", "replicasets")),
			types: []schema.GroupVersionKind{pod},
			unchecked: []typecheck.Unchecked{
				{Field: first, Reason: typecheck.TooManyTypes},
				{Field: "spec.matchConstraints.resourceRules[1]", Reason: typecheck.TooManyTypes},
				{Field: "spec.matchConstraints.resourceRules[2]", Reason: typecheck.TooManyTypes},
			},
		},
		"exactly ten": {
			policy: policy("true", rule("", "v1", "pods", "pods", "pods", "pods", "pods", "pods", "pods", "pods", "pods", "pods")),
			types:  []schema.GroupVersionKind{pod},
		},
		"params": {
			policy: policy("true", params("v1", "ConfigMap")),
			types:  []schema.GroupVersionKind{deployment}, params: configMap,
		},
		"params of a kind that is not served": {
			policy:    policy("true", params("v1", "Nothing")),
			types:     []schema.GroupVersionKind{deployment},
			unchecked: []typecheck.Unchecked{{Field: "spec.paramKind", Kind: core("Nothing"), Reason: typecheck.UnknownKind}},
		},
		"params without schema": {
			policy:    policy("true", params("v1", "Service")),
			types:     []schema.GroupVersionKind{deployment},
			unchecked: []typecheck.Unchecked{{Field: "spec.paramKind", Kind: core("Service"), Reason: typecheck.NoSchema}},
		},
		"params unavailable": {
			policy:    policy("true", params("v1", "Secret")),
			types:     []schema.GroupVersionKind{deployment},
			unchecked: []typecheck.Unchecked{{Field: "spec.paramKind", Kind: secret, Reason: typecheck.Unavailable}},
		},
		"params of no version": {
			policy:    policy("true", params("a/b/c", "Nothing")),
			types:     []schema.GroupVersionKind{deployment},
			unchecked: []typecheck.Unchecked{{Field: "spec.paramKind", Reason: typecheck.UnknownKind}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapper, described).CheckValidating(test.policy)
			if diff := cmp.Diff(test.types, result.Types); diff != "" {
				t.Errorf("types differ (-want +got):\n%s", diff)
			}
			if test.params != result.Params {
				t.Errorf("params are %v, want %v", result.Params, test.params)
			}
			for i, u := range result.Unchecked {
				if u.Err == nil {
					t.Errorf("%v: no error", u)
				}
				result.Unchecked[i].Err = nil
			}
			if diff := cmp.Diff(test.unchecked, result.Unchecked); diff != "" {
				t.Errorf("unchecked differ (-want +got):\n%s", diff)
			}
		})
	}
}

// countingMapper counts its calls.
type countingMapper struct {
	meta.RESTMapper
	lookups *int
}

func (m countingMapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	*m.lookups++
	return m.RESTMapper.KindsFor(r)
}

// kindsOf returns the same kinds for each resource.
type kindsOf struct {
	meta.RESTMapper
	kinds []schema.GroupVersionKind
}

func (m kindsOf) KindsFor(schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return m.kinds, nil
}

// The kinds of one resource count like those of several, and the result tells that some are left
// out.
func TestManyKindsOfAResource(t *testing.T) {
	for kinds, want := range map[int][]typecheck.Reason{
		1:  {typecheck.NoSchema},
		10: slices.Repeat([]typecheck.Reason{typecheck.NoSchema}, 10),
		11: append([]typecheck.Reason{typecheck.TooManyTypes}, slices.Repeat([]typecheck.Reason{typecheck.NoSchema}, 10)...),
	} {
		mapper := kindsOf{}
		for i := range kinds {
			mapper.kinds = append(mapper.kinds, schema.GroupVersionKind{Version: "v1", Kind: fmt.Sprintf("Kind%d", i)})
		}
		result := checker(t, mapper, builtIn).CheckValidating(policy("true", rule("", "v1", "things")))
		var got []typecheck.Reason
		for _, u := range result.Unchecked {
			got = append(got, u.Reason)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d kinds: reasons (-want +got):\n%s", kinds, diff)
		}
	}
}

// Short lists of names have very many combinations. The number of lookups is bounded.
func TestManyCombinations(t *testing.T) {
	names := func(prefix string, count int, more ...string) []string {
		for i := range count - len(more) {
			more = append(more, fmt.Sprintf("%s%06d", prefix, i))
		}
		return more
	}
	const most = 10_000
	rule0, rule1 := "spec.matchConstraints.resourceRules[0]", "spec.matchConstraints.resourceRules[1]"
	for name, test := range map[string]struct {
		rules   []v1.Rule
		lookups int
		types   []schema.GroupVersionKind
		tooMany []string // fields
	}{
		"none exists": {
			rules:   []v1.Rule{{APIGroups: names("g", 1000), APIVersions: names("v", 100), Resources: names("r", 1000)}},
			lookups: most, tooMany: []string{rule0},
		},
		"first exists": {
			rules:   []v1.Rule{{APIGroups: names("g", 1000, "apps"), APIVersions: names("w", 100, "v1"), Resources: names("r", 1000, "deployments")}},
			lookups: most, types: []schema.GroupVersionKind{deployment}, tooMany: []string{rule0},
		},
		"as many as may be": {
			rules:   []v1.Rule{{APIGroups: names("z", 10, "apps"), APIVersions: names("w", 10, "v1"), Resources: names("r", 100, "replicasets")}},
			lookups: most, types: []schema.GroupVersionKind{replicaSet},
		},
		"many rules": {
			rules: []v1.Rule{
				{APIGroups: names("g", 99, "apps"), APIVersions: []string{"v1"}, Resources: names("r", 100, "deployments")},
				{APIGroups: names("g", 2), APIVersions: []string{"v1"}, Resources: names("r", 100)},
				{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"replicasets"}},
			},
			lookups: most, types: []schema.GroupVersionKind{deployment}, tooMany: []string{rule1, "spec.matchConstraints.resourceRules[2]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			lookups := 0
			result := checker(t, countingMapper{mapperFor(deployment, replicaSet), &lookups}, builtIn).CheckValidating(policy("true", rules(test.rules...)))
			if lookups != test.lookups {
				t.Errorf("looked up %d combinations, want %d", lookups, test.lookups)
			}
			if diff := cmp.Diff(test.types, result.Types); diff != "" {
				t.Errorf("types differ (-want +got):\n%s", diff)
			}
			var tooMany []string
			for _, u := range result.Unchecked {
				if u.Reason == typecheck.TooManyTypes {
					tooMany = append(tooMany, u.Field)
				}
			}
			if diff := cmp.Diff(test.tooMany, tooMany); diff != "" {
				t.Errorf("unchecked fields (-want +got):\n%s", diff)
			}
		})
	}
}
