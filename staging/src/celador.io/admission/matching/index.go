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

// Index finds the criteria that a request may meet, by their resource rules. For the first request
// with a combination of resource, operation and the like (a shape), it checks all criteria. It
// keeps the list of those that remain (a shortlist) for later requests of the same shape. Safe for
// concurrent use.
type Index struct {
	count int
	at    func(int) *Criteria
	// known holds the shortlists by the name of the resource. A map of shapes would have to hash a
	// whole shape for each request, which takes longer than comparing it with the few shapes of one
	// resource.
	known atomic.Pointer[map[string][]*shortlist]
}

// shape holds the attributes of a request that resource rules compare, except the name of the
// object. Requests of the same shape have the same candidates.
type shape struct {
	resource schema.GroupVersionResource
	// original is the resource of the client's request, which differs if the API server has
	// converted the objects.
	original    schema.GroupVersionResource
	subresource string
	operation   admission.Operation
	namespaced  bool
}

// shortlist holds the candidates for requests of one shape.
type shortlist struct {
	shape shape
	// equivalents are the request's equivalent resources at the time when the list was made. The
	// list is not used for requests with other equivalents: they change while the server runs, for
	// instance when a CustomResourceDefinition adds a version.
	equivalents []schema.GroupVersionResource
	candidates  []Candidate
}

// A Candidate refers to criteria that a request may meet.
type Candidate struct {
	// Position is the position of the criteria in the index.
	Position int
	// Certain is set if the request meets the criteria and Target is its own resource and kind.
	// Criteria.Match need not be called.
	Certain bool
}

// NewIndex returns an index of count criteria. at returns the criteria at a position.
func NewIndex(count int, at func(int) *Criteria) *Index {
	x := &Index{count: count, at: at}
	x.known.Store(&map[string][]*shortlist{})
	return x
}

// Candidates returns the criteria that the request may meet, in the order of positions. The request
// does not meet the other criteria. The result must not be changed.
func (x *Index) Candidates(r *Request) []Candidate {
	of := shape{r.GetResource(), r.original().Resource, r.GetSubresource(), r.GetOperation(), r.GetNamespace() != ""}
	equivalents := r.equivalentResources()
	for _, list := range (*x.known.Load())[of.resource.Resource] {
		if list.shape == of && slices.Equal(list.equivalents, equivalents) {
			return list.candidates
		}
	}
	list := &shortlist{shape: of, equivalents: slices.Clone(equivalents)}
	for i := range x.count {
		if x.at(i).mayMatch(r) {
			list.candidates = append(list.candidates, Candidate{i, x.at(i).certain(r)})
		}
	}
	x.remember(list)
	return list.candidates
}

// remember caches a shortlist, in place of an earlier one for the same shape.
func (x *Index) remember(list *shortlist) {
	resource := list.shape.resource.Resource
	for {
		known := x.known.Load()
		extended := maps.Clone(*known)
		others := slices.DeleteFunc(slices.Clone(extended[resource]), func(l *shortlist) bool { return l.shape == list.shape })
		extended[resource] = append(others, list)
		if x.known.CompareAndSwap(known, &extended) {
			return
		}
	}
}

// mayMatch reports whether a request of the same shape as r may meet the criteria. A rule that
// cannot be decided, because an equivalent resource has no kind, counts as a rule that matches.
func (c *Criteria) mayMatch(r *Request) bool {
	own := r.own(c.exact).Resource
	for i := range c.exclude {
		if len(c.exclude[i].ResourceNames) == 0 && c.exclude[i].matchesResource(own, r) {
			return false
		}
	}
	direct := func(u rule) bool { return u.matchesResource(own, r) }
	if len(c.include) == 0 || slices.ContainsFunc(c.include, direct) {
		return true
	}
	// Match returns an error for an equivalent resource of unknown kind, in the rules and in the
	// exclusions alike, so the request is a candidate.
	equivalent := func(u rule) bool {
		return slices.ContainsFunc(r.equivalentResources(), func(resource schema.GroupVersionResource) bool {
			return resource != r.GetResource() && u.matchesResource(resource, r)
		})
	}
	return !c.exact && (slices.ContainsFunc(c.include, equivalent) || slices.ContainsFunc(c.exclude, equivalent))
}

// certain reports whether all requests of the same shape as r meet the criteria: there are no
// selectors and no exclusions, and there are no rules or a rule lists the request's own resource
// without resourceNames.
func (c *Criteria) certain(r *Request) bool {
	if c.namespaces.matcher != nil || c.objects.matcher != nil || len(c.exclude) > 0 || c.exact && r.original().Resource != r.GetResource() {
		return false
	}
	return len(c.include) == 0 || slices.ContainsFunc(c.include, func(u rule) bool {
		return len(u.ResourceNames) == 0 && u.matchesResource(r.GetResource(), r)
	})
}
