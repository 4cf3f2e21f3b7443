// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

var asks = map[string]ask{
	"create deployment":  {operation: admission.Create, resource: deployments, kind: deployment, namespace: "blue"}, // with generateName
	"update deployment":  {operation: admission.Update, resource: deployments, kind: deployment, namespace: "blue", name: "web"},
	"scale deployment":   {operation: admission.Update, resource: deployments, kind: scale, subresource: "scale", namespace: "blue", name: "web"},
	"delete pod":         {operation: admission.Delete, resource: pods, kind: pod, namespace: "blue", name: "web"},
	"exec":               {operation: admission.Connect, resource: pods, kind: pod, subresource: "exec", namespace: "blue", name: "web"},
	"create node":        {operation: admission.Create, resource: nodes, kind: node, name: "n1"},
	"create namespace":   {operation: admission.Create, resource: namespaces, kind: namespace, namespace: "blue", name: "blue"},
	"finalize namespace": {operation: admission.Update, resource: namespaces, kind: namespace, subresource: "finalize", namespace: "blue", name: "blue"},
	"create room":        {operation: admission.Create, resource: rooms, kind: room, namespace: "blue", name: "blue"},
}

// catchAll is a rule that matches every request.
func catchAll() v1.NamedRuleWithOperations {
	return v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll},
		Rule:       v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
	}}
}

// listing returns a rule for each resource, written group/version/resource.
func listing(resources ...string) []v1.NamedRuleWithOperations {
	var rules []v1.NamedRuleWithOperations
	for _, resource := range resources {
		parts := strings.SplitN(resource, "/", 3)
		rule := catchAll()
		rule.APIGroups, rule.APIVersions, rule.Resources = parts[:1], parts[1:2], parts[2:]
		rules = append(rules, rule)
	}
	return rules
}

func TestRule(t *testing.T) {
	all := slices.Sorted(maps.Keys(asks))
	except := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(names, name) })
	}
	type rule = v1.NamedRuleWithOperations
	for name, test := range map[string]struct {
		change func(*rule)
		want   []string
	}{
		"catch-all": {func(*rule) {}, all},

		"operation":          {func(r *rule) { r.Operations = []v1.OperationType{v1.Delete} }, []string{"delete pod"}},
		"two operations":     {func(r *rule) { r.Operations = []v1.OperationType{v1.Connect, v1.Delete} }, []string{"delete pod", "exec"}},
		"operation and all":  {func(r *rule) { r.Operations = []v1.OperationType{v1.Connect, "*"} }, all},
		"no operation":       {func(r *rule) { r.Operations = nil }, nil},
		"core group":         {func(r *rule) { r.APIGroups = []string{""} }, except("create deployment", "update deployment", "scale deployment", "create room")},
		"named group":        {func(r *rule) { r.APIGroups = []string{"apps"} }, []string{"create deployment", "update deployment", "scale deployment"}},
		"two groups":         {func(r *rule) { r.APIGroups = []string{"batch", "hotel.example.com"} }, []string{"create room"}},
		"part of a group":    {func(r *rule) { r.APIGroups = []string{"example.com", "*.example.com"} }, nil},
		"no group":           {func(r *rule) { r.APIGroups = nil }, nil},
		"version":            {func(r *rule) { r.APIVersions = []string{"v1"} }, all},
		"another version":    {func(r *rule) { r.APIVersions = []string{"v2", "v1beta1"} }, nil},
		"no version":         {func(r *rule) { r.APIVersions = nil }, nil},
		"resource":           {func(r *rule) { r.Resources = []string{"pods"} }, []string{"delete pod"}},
		"resource's parts":   {func(r *rule) { r.Resources = []string{"pods/*"} }, []string{"delete pod", "exec"}},
		"one part":           {func(r *rule) { r.Resources = []string{"pods/exec"} }, []string{"exec"}},
		"another part":       {func(r *rule) { r.Resources = []string{"pods/scale"} }, nil},
		"part of any":        {func(r *rule) { r.Resources = []string{"*/scale", "*/finalize"} }, []string{"scale deployment", "finalize namespace"}},
		"any resource":       {func(r *rule) { r.Resources = []string{"*"} }, except("scale deployment", "exec", "finalize namespace")},
		"plural of a prefix": {func(r *rule) { r.Resources = []string{"pod", "deploy*"} }, nil},
		"deeper part":        {func(r *rule) { r.Resources = []string{"pods/exec/now"} }, nil},
		"no resource":        {func(r *rule) { r.Resources = nil }, nil},
		"all scopes":         {func(r *rule) { r.Scope = new(v1.AllScopes) }, all},
		"cluster scope":      {func(r *rule) { r.Scope = new(v1.ClusterScope) }, []string{"create node", "create namespace", "finalize namespace"}},
		"namespaced scope":   {func(r *rule) { r.Scope = new(v1.NamespacedScope) }, except("create node", "create namespace", "finalize namespace")},
		"unknown scope":      {func(r *rule) { r.Scope = new(v1.ScopeType("Galactic")) }, nil},
		"resource name":      {func(r *rule) { r.ResourceNames = []string{"web"} }, []string{"update deployment", "scale deployment", "delete pod", "exec"}},
		"resource names":     {func(r *rule) { r.ResourceNames = []string{"n1", "blue"} }, []string{"create node", "create namespace", "finalize namespace", "create room"}},
		"no wildcard name":   {func(r *rule) { r.ResourceNames = []string{"*"} }, nil},
		"several at once": {func(r *rule) {
			r.Operations, r.Resources, r.ResourceNames, r.Scope = []v1.OperationType{v1.Update}, []string{"*"}, []string{"web"}, new(v1.NamespacedScope)
		}, []string{"update deployment"}},
	} {
		t.Run(name, func(t *testing.T) {
			rule := catchAll()
			test.change(&rule)
			rules := []v1.NamedRuleWithOperations{rule}
			slices.Sort(test.want)
			if got := matched(t, &v1.MatchResources{MatchPolicy: new(v1.Exact), ResourceRules: rules}); !slices.Equal(got, test.want) {
				t.Errorf("matches %q\nwant %q", got, test.want)
			}
			if got, want := matched(t, &v1.MatchResources{MatchPolicy: new(v1.Exact), ExcludeResourceRules: rules}), except(test.want...); !slices.Equal(got, want) {
				t.Errorf("excluding, matches %q\nwant %q", got, want)
			}
		})
	}
}

// matched returns the names of the requests that match, sorted.
func matched(t *testing.T, m *v1.MatchResources) []string {
	t.Helper()
	criteria := matching.Compile(m)
	var result []string
	for name, ask := range asks {
		target, matches, err := criteria.Match(ask.request(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if matches {
			result = append(result, name)
			if want := (matching.Target{Resource: ask.resource, Kind: ask.kind}); target != want {
				t.Errorf("%s: target is %v, want %v", name, target, want)
			}
		}
	}
	slices.Sort(result)
	return result
}

func TestExclusionPrevails(t *testing.T) {
	for name, test := range map[string]struct {
		include, exclude []v1.NamedRuleWithOperations
		want             []string
	}{
		"the same":            {listing("/v1/pods"), listing("/v1/pods"), nil},
		"one of two":          {listing("/v1/pods", "apps/v1/deployments"), listing("/v1/pods"), []string{"create deployment", "update deployment"}},
		"part of":             {listing("*/*/pods/*"), listing("/v1/pods/exec"), []string{"delete pod"}},
		"something else":      {listing("/v1/pods"), listing("/v1/nodes"), []string{"delete pod"}},
		"all":                 {nil, listing("*/*/*/*"), nil},
		"none of none":        {nil, nil, slices.Sorted(maps.Keys(asks))},
		"two of three":        {listing("/v1/pods", "/v1/nodes", "/v1/namespaces"), listing("/v1/nodes", "/v1/pods"), []string{"create namespace"}},
		"excluded, any scope": {listing("/v1/namespaces", "hotel.example.com/v1/namespaces"), listing("/*/namespaces"), []string{"create room"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := matched(t, &v1.MatchResources{ResourceRules: test.include, ExcludeResourceRules: test.exclude})
			if !slices.Equal(got, test.want) {
				t.Errorf("matches %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestMatchPolicy(t *testing.T) {
	update := asks["update deployment"]
	asIs := matching.Target{Resource: deployments, Kind: deployment}
	converted := matching.Target{Resource: deployments2, Kind: deployment2}
	const unknownKind = "unable to convert to extensions/v1beta1, Resource=deployments: unknown kind"
	named := func(rules []v1.NamedRuleWithOperations, names ...string) []v1.NamedRuleWithOperations {
		for i := range rules {
			rules[i].ResourceNames = names
		}
		return rules
	}
	for name, test := range map[string]struct {
		policy           *v1.MatchPolicyType
		include, exclude []v1.NamedRuleWithOperations
		ask              ask
		want             matching.Target // empty: no match
		wantErr          string
	}{
		"default, same version":      {nil, listing("apps/v1/deployments"), nil, update, asIs, ""},
		"default, other version":     {nil, listing("apps/v2/deployments"), nil, update, converted, ""},
		"exact, other version":       {new(v1.Exact), listing("apps/v2/deployments"), nil, update, matching.Target{}, ""},
		"exact, any version":         {new(v1.Exact), listing("apps/*/deployments"), nil, update, asIs, ""},
		"equivalent, same version":   {new(v1.Equivalent), listing("apps/v1/deployments"), nil, update, asIs, ""},
		"equivalent, any version":    {new(v1.Equivalent), listing("apps/*/deployments"), nil, update, asIs, ""},
		"equivalent, other version":  {new(v1.Equivalent), listing("apps/v2/deployments"), nil, update, converted, ""},
		"equivalent, both":           {new(v1.Equivalent), listing("apps/v2/deployments", "apps/v1/deployments"), nil, update, asIs, ""},
		"equivalent, second rule":    {new(v1.Equivalent), listing("/v1/pods", "apps/v2/deployments"), nil, update, converted, ""},
		"equivalent, other resource": {new(v1.Equivalent), listing("apps/v2/replicasets"), nil, update, matching.Target{}, ""},
		"equivalent, subresource": {new(v1.Equivalent), listing("apps/v2/deployments/scale"), nil, asks["scale deployment"],
			matching.Target{Resource: deployments2, Kind: scale}, ""},
		"equivalent, not the subresource":         {new(v1.Equivalent), listing("apps/v2/deployments"), nil, asks["scale deployment"], matching.Target{}, ""},
		"equivalent, listed name":                 {new(v1.Equivalent), named(listing("apps/v2/deployments"), "api", "web"), nil, update, converted, ""},
		"equivalent, other name":                  {new(v1.Equivalent), named(listing("apps/v2/deployments"), "api"), nil, update, matching.Target{}, ""},
		"equivalent, unknown kind":                {new(v1.Equivalent), listing("extensions/*/deployments"), nil, update, matching.Target{}, unknownKind},
		"unknown kind, other name":                {new(v1.Equivalent), named(listing("extensions/*/deployments"), "api"), nil, update, matching.Target{}, unknownKind},
		"unknown kind after a known one":          {new(v1.Equivalent), listing("apps/v2/deployments", "extensions/*/deployments"), nil, update, converted, ""},
		"exact, unknown kind":                     {new(v1.Exact), listing("extensions/*/deployments"), nil, update, matching.Target{}, ""},
		"excluded through another version":        {new(v1.Equivalent), listing("apps/v1/deployments"), listing("apps/v2/deployments"), update, matching.Target{}, ""},
		"exact exclusion":                         {new(v1.Exact), listing("apps/v1/deployments"), listing("apps/v2/deployments"), update, asIs, ""},
		"exclusion of unknown kind":               {new(v1.Equivalent), listing("apps/v1/deployments"), listing("extensions/*/deployments"), update, matching.Target{}, unknownKind},
		"exclusion of unknown kind, not included": {new(v1.Equivalent), listing("/v1/pods"), listing("extensions/*/deployments"), update, matching.Target{}, unknownKind},
		"not served otherwise":                    {new(v1.Equivalent), listing("/v2/nodes"), nil, asks["create node"], matching.Target{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			criteria := matching.Compile(&v1.MatchResources{MatchPolicy: test.policy, ResourceRules: test.include, ExcludeResourceRules: test.exclude})
			target, matches, err := criteria.Match(test.ask.request(t))
			if text(err) != test.wantErr {
				t.Errorf("error is %v, want %q", err, test.wantErr)
			}
			if wantMatch := test.want != (matching.Target{}); matches != wantMatch || target != test.want {
				t.Errorf("got %v, %v, want %v", matches, target, test.want)
			}
		})
	}
}
