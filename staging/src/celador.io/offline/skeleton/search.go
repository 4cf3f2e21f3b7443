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

// A search looks for objects that a policy allows or denies, among those that simple edits make of
// a sample.
type search struct {
	cluster *cluster.Cluster // nil if the server does not accept the manifests
	kind    string
	policy  string
	request request
}

// A trial is what a policy does with a request for an object.
type trial struct {
	// distance is 0 if the policy applies and all its validations hold. Otherwise it is the number
	// of validations that are violated or fail, or a constant such as notMatched, which is larger,
	// if the policy evaluates none.
	distance int
	// violated has the validations that are violated, and denied those of them for which the
	// request is denied.
	violated, denied map[int]bool
}

// Distances of objects that the policy does not evaluate.
const (
	excluded   = 1000
	notMatched = 2000
	rejected   = 3000
	unusable   = 4000
)

// judge sends the request with an object to the cluster, and returns the trial of the policy
// through the binding with the smallest distance.
func (s *search) judge(ctx context.Context, object *unstructured.Unstructured) trial {
	if s.cluster == nil || object == nil {
		return trial{distance: unusable}
	}
	review, err := s.cluster.Admit(ctx, s.request.send(object))
	if err != nil {
		return trial{distance: unusable}
	}
	best := trial{distance: rejected}
	for _, p := range review.Policies {
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

// rounds is the number of edits that closest combines.
const rounds = 8

// closest returns the object that is closest to one that the policy allows, by the edit that helps
// most in each round.
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

// boundary returns the first edit of the object that the policy still allows, or the object. Edits
// begin with the value that an expression compares with, so that the case is at the limit.
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

// maxPairs is the number of edits above which violating does not try pairs of edits.
const maxPairs = 24

// violating returns an object that violates a validation and, besides it, as few others as
// possible. It returns nil if no edit makes such an object.
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
