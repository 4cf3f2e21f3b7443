// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"maps"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// Index tells which of many criteria a request may meet, going by resource rules. It
// looks through all of them for the first request of a shape and remembers the answer.
// Safe for concurrent use.
type Index struct {
	count int
	at    func(int) *Criteria
	known atomic.Pointer[map[shape]*shortlist]
}

// shape is what rules see of a request, other than names.
type shape struct {
	resource    schema.GroupVersionResource
	subresource string
	operation   admission.Operation
	namespaced  bool
}

type shortlist struct {
	// equivalents are the resources that the list takes for equivalent. That can change
	// while the server runs.
	equivalents []schema.GroupVersionResource
	candidates  []Candidate
}

// Candidate is one of many criteria that a request may meet.
type Candidate struct {
	Position int
	// Certain is set when the request meets the criteria, in the form that it has. Nothing
	// more needs to be looked at, not even the criteria.
	Certain bool
}

// NewIndex returns an index of count criteria, which at returns by position.
func NewIndex(count int, at func(int) *Criteria) *Index {
	x := &Index{count: count, at: at}
	x.known.Store(&map[shape]*shortlist{})
	return x
}

// Candidates returns the criteria that the request may meet, in the order of positions; it
// certainly does not meet the others. The result must not be changed.
func (x *Index) Candidates(r *Request) []Candidate {
	key := shape{r.GetResource(), r.GetSubresource(), r.GetOperation(), r.GetNamespace() != ""}
	equivalents := r.objects.GetEquivalentResourceMapper().EquivalentResourcesFor(key.resource, key.subresource)
	if list, ok := (*x.known.Load())[key]; ok && slices.Equal(list.equivalents, equivalents) {
		return list.candidates
	}
	list := &shortlist{equivalents: slices.Clone(equivalents)}
	for i := range x.count {
		if x.at(i).mayMatch(r) {
			list.candidates = append(list.candidates, Candidate{i, x.at(i).certain(r)})
		}
	}
	x.remember(key, list)
	return list.candidates
}

func (x *Index) remember(key shape, list *shortlist) {
	for {
		known := x.known.Load()
		extended := maps.Clone(*known)
		extended[key] = list
		if x.known.CompareAndSwap(known, &extended) {
			return
		}
	}
}

// mayMatch compares what is in the request's shape, and takes rules that cannot be
// decided for matching.
func (c *Criteria) mayMatch(r *Request) bool {
	for i := range c.exclude {
		if len(c.exclude[i].ResourceNames) == 0 && c.exclude[i].matchesResource(r.GetResource(), r) {
			return false
		}
	}
	direct := func(u rule) bool { return u.matchesResource(r.GetResource(), r) }
	if len(c.include) == 0 || slices.ContainsFunc(c.include, direct) {
		return true
	}
	// An equivalent resource of unknown kind is an error, in either list.
	equivalent := func(u rule) bool {
		return slices.ContainsFunc(r.equivalentResources(), func(resource schema.GroupVersionResource) bool { return u.matchesResource(resource, r) })
	}
	return !c.exact && (slices.ContainsFunc(c.include, equivalent) || slices.ContainsFunc(c.exclude, equivalent))
}

// certain says whether all requests of the request's shape meet the criteria, which takes
// criteria without selectors and a rule that lists the resource itself.
func (c *Criteria) certain(r *Request) bool {
	if c.namespaces.matcher != nil || c.objects.matcher != nil || len(c.exclude) > 0 {
		return false
	}
	return len(c.include) == 0 || slices.ContainsFunc(c.include, func(u rule) bool {
		return len(u.ResourceNames) == 0 && u.matchesResource(r.GetResource(), r)
	})
}
