// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"maps"
	"slices"
	"sync"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/matching"
)

func exactly(rules ...v1.NamedRuleWithOperations) *v1.MatchResources {
	return &v1.MatchResources{MatchPolicy: new(v1.Exact), ResourceRules: rules}
}

func equivalently(rules ...v1.NamedRuleWithOperations) *v1.MatchResources {
	return &v1.MatchResources{MatchPolicy: new(v1.Equivalent), ResourceRules: rules}
}

func named(name string, rules ...v1.NamedRuleWithOperations) []v1.NamedRuleWithOperations {
	for i := range rules {
		rules[i].ResourceNames = []string{name}
	}
	return rules
}

// Criteria that are not candidates do not match. The candidates are the criteria whose rules match
// a request, apart from resourceNames.
func TestIndex(t *testing.T) {
	criteria := []*v1.MatchResources{
		{},
		exactly(listing("apps/v1/deployments")...),
		exactly(listing("apps/v1/daemonsets")...),
		exactly(listing("extensions/v1beta1/deployments")...),
		equivalently(listing("extensions/v1beta1/deployments")...),
		exactly(named("other", listing("apps/v1/deployments")...)...),
		{ExcludeResourceRules: listing("apps/*/*")},
		{ExcludeResourceRules: named("other", listing("apps/*/*")...)},
		{MatchPolicy: new(v1.Equivalent), ResourceRules: listing("apps/v1/daemonsets"), ExcludeResourceRules: listing("extensions/v1beta1/deployments")},
		{ResourceRules: listing("*/*/*"), ExcludeResourceRules: listing("*/*/pods/*")},
		{ResourceRules: listing("apps/v1/deployments"), ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
	}
	var compiled []*matching.Criteria
	for _, m := range criteria {
		compiled = append(compiled, matching.Compile(m))
	}
	index := matching.NewIndex(len(compiled), func(i int) *matching.Criteria { return compiled[i] })
	for _, name := range slices.Sorted(maps.Keys(asks)) {
		for range 2 { // the second result is cached
			candidates := positions(index.Candidates(asks[name].request(t)))
			for i, c := range compiled {
				if _, matches, err := c.Match(asks[name].request(t)); (matches || err != nil) && !slices.Contains(candidates, i) {
					t.Errorf("%s: criteria %d match and are not candidates", name, i)
				}
			}
			for _, candidate := range index.Candidates(asks[name].request(t)) {
				if !candidate.Certain {
					continue
				}
				request := asks[name].request(t)
				target, matches, err := compiled[candidate.Position].Match(request)
				if !matches || err != nil || target != (matching.Target{Resource: request.GetResource(), Kind: request.GetKind()}) {
					t.Errorf("%s: criteria %d are certain, and match: %t %v %v", name, candidate.Position, matches, target, err)
				}
			}
			if !slices.IsSorted(candidates) {
				t.Errorf("%s: candidates %v are not in order", name, candidates)
			}
		}
	}
	if got, want := index.Candidates(asks["update deployment"].request(t)), []matching.Candidate{{0, true}, {1, true}, {4, false}, {5, false}, {7, false}, {8, false}, {9, false}, {10, false}}; !slices.Equal(got, want) {
		t.Errorf("candidates for deployments are %v, want %v", got, want)
	}
	if got, want := positions(index.Candidates(asks["exec"].request(t))), []int{0, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("candidates for exec are %v, want %v", got, want)
	}
}

func positions(candidates []matching.Candidate) []int {
	var positions []int
	for _, c := range candidates {
		positions = append(positions, c.Position)
	}
	return positions
}

// The index notices that a custom resource has new versions.
func TestIndexAfterNewEquivalents(t *testing.T) {
	mapper := runtime.NewEquivalentResourceRegistryWithIdentity(func(r schema.GroupResource) string { return r.Resource })
	objects := served()
	objects.EquivalentResourceMapper = mapper
	c := matching.Compile(equivalently(listing("extensions/v1beta1/deployments")...))
	index := matching.NewIndex(1, func(int) *matching.Criteria { return c })
	candidates := func() int {
		return len(index.Candidates(matching.NewRequest(t.Context(), asks["update deployment"].attributes(), objects, stored())))
	}
	mapper.RegisterKindFor(deployments, "", deployment)
	if got := candidates(); got != 0 {
		t.Errorf("%d candidates before the version is served", got)
	}
	mapper.RegisterKindFor(schema.GroupVersionResource{Group: "extensions", Version: "v1beta1", Resource: "deployments"}, "", schema.GroupVersionKind{Group: "extensions", Version: "v1beta1", Kind: "Deployment"})
	if got := candidates(); got != 1 {
		t.Errorf("%d candidates when the version is served", got)
	}
}

func TestIndexConcurrently(t *testing.T) {
	c := matching.Compile(exactly(listing("apps/v1/deployments")...))
	index := matching.NewIndex(1, func(int) *matching.Criteria { return c })
	var wait sync.WaitGroup
	for _, ask := range asks {
		for range 4 {
			wait.Go(func() {
				want := 0
				if ask.resource == deployments && ask.subresource == "" {
					want = 1
				}
				if got := index.Candidates(ask.request(t)); len(got) != want {
					t.Errorf("%d candidates for %v, want %d", len(got), ask, want)
				}
			})
		}
	}
	wait.Wait()
}
