// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package skeleton

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/admission/validating"
	admissionv1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
)

// A search looks for objects that a policy allows or denies. It edits a sample, sends each result
// to a cluster with the policy, and keeps the edits that help.
type search struct {
	cluster *cluster.Cluster // nil if the server does not accept the manifests
	kind    string
	policy  string
	request request
}

// A trial is what a policy did with one request.
type trial struct {
	// distance says how far the object is from being allowed. It is 0 if the policy applies and all
	// its validations hold, and otherwise the number of validations that are violated or fail. If
	// the request does not get as far as the validations, it is one of the larger constants below,
	// so that the search first makes the policy match.
	distance int
	// violated has the indexes of the validations that are violated. denied has those of them
	// because of which the request is denied.
	violated, denied map[int]bool
}

// Distances of requests whose validations are not evaluated: a match condition is false, the policy
// or its binding does not match, the server rejects the request before the policy, or the request
// cannot be sent. The further a request gets, the smaller is its distance.
const (
	excluded   = 1000
	notMatched = 2000
	rejected   = 3000
	unusable   = 4000
)

// judge sends a request with an object to the cluster, and returns what the policy does with it. If
// the policy has several bindings, it returns the trial of the binding with the smallest distance.
func (s *search) judge(ctx context.Context, object *unstructured.Unstructured) trial {
	if s.cluster == nil || object == nil {
		return trial{distance: unusable}
	}
	response, err := s.cluster.Admit(ctx, s.request.send(object))
	if err != nil {
		return trial{distance: unusable}
	}
	best := trial{distance: rejected}
	for _, p := range response.Policies {
		if p.Kind != s.kind || p.Policy != s.policy {
			continue
		}
		v := trial{violated: map[int]bool{}, denied: map[int]bool{}}
		switch p.Effect {
		case cluster.NotReached:
			v.distance = rejected
		case cluster.NotMatched:
			v.distance = notMatched
		case cluster.Excluded:
			v.distance = excluded
		}
		for _, d := range p.Decisions {
			if d.Outcome != validating.Admitted {
				v.distance++
			}
			if d.Outcome == validating.Denied {
				v.violated[d.Index] = true
				v.denied[d.Index] = slices.Contains(d.Actions, admissionv1.Deny)
			}
		}
		v.distance += len(p.Failures)
		if v.distance < best.distance {
			best = v
		}
	}
	return best
}

// rounds is the maximum number of edits that closest combines.
const rounds = 8

// closest looks for an object that the policy allows. It returns the object with the smallest
// distance (see trial) that it finds, and the trial of this object. In each round, it makes the
// edit that reduces the distance most, until no edit reduces it.
func (s *search) closest(ctx context.Context, object *unstructured.Unstructured, edits []edit) (*unstructured.Unstructured, trial) {
	current := s.judge(ctx, object)
	for range rounds {
		best, found := current, object
		for _, e := range edits {
			candidate := e.apply(object)
			if v := s.judge(ctx, candidate); v.distance < best.distance {
				best, found = v, candidate
			}
		}
		if best.distance == current.distance {
			break
		}
		object, current = found, best
	}
	return object, current
}

// boundary returns the object with the first edit that sets a field to an integer and after which
// the policy still allows it. For each comparison, the first edit is the value with which the
// expression compares the field, so the case is at the limit of the validation. Without such an
// edit, boundary returns the object itself.
func (s *search) boundary(ctx context.Context, object *unstructured.Unstructured, edits []edit) *unstructured.Unstructured {
	for _, e := range edits {
		if _, number := e.value.(int64); !number {
			continue
		}
		if candidate := e.apply(object); s.judge(ctx, candidate).distance == 0 {
			return candidate
		}
	}
	return object
}

// maxPairs is the largest number of edits of which violating also tries pairs. Each pair costs a
// request, and the number of pairs is the square of the number of edits.
const maxPairs = 24

// violating returns an object that violates the validation with the given index. Of several that it
// finds, it returns the one that violates the fewest other validations. It returns nil if it finds
// none.
func (s *search) violating(ctx context.Context, index int, object *unstructured.Unstructured, edits []edit) *unstructured.Unstructured {
	var found *unstructured.Unstructured
	fewest := 0
	try := func(candidate *unstructured.Unstructured) {
		v := s.judge(ctx, candidate)
		if v.violated[index] && (found == nil || v.distance < fewest) {
			found, fewest = candidate, v.distance
		}
	}
	try(object)
	for _, e := range edits {
		try(e.apply(object))
	}
	if found != nil || len(edits) > maxPairs {
		return found
	}
	for _, first := range edits {
		if edited := first.apply(object); edited != nil {
			for _, second := range edits {
				try(second.apply(edited))
			}
		}
	}
	return found
}
