// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/admissionregistration/v1"
)

// progress returns whether a status with the conditions is to be written, and which custom
// resources it is based on then. The error is errBehind if that cannot be told yet.
//
// A status is written only on forward progress (KEP-3488, "Writing to Status"): when
// something that it is based on has moved on since the recorded status, and nothing is
// older. That is the generation of the policy, and the states of custom resources. Servers
// of different versions may find different things in the same states, and let the recorded
// status stay, unless theirs is better. So every write is a step up, and there is a last one.
// Types of other servers have no states to record: a server that sees a change of them writes
// what it finds once.
func (c *Controller) progress(ctx context.Context, p *policy, o *outcome, conditions []metav1.Condition) (bool, []v1.ObservedCustomResource, error) {
	recorded := &p.status
	oldest, newest := generations(recorded)
	if newest > p.Generation {
		return false, nil, nil
	}
	// Status controllers of others write no conditions and look at no custom resources.
	first := oldest < p.Generation
	forward := first || better(conditions, recorded.Conditions) || taken(p) ||
		o.changed && !o.unavailable() && differs(recorded, o, conditions)

	rest := map[schema.GroupVersionKind]v1.ObservedCustomResource{}
	for _, r := range recorded.ObservedCustomResources {
		rest[gvk(r)] = r
	}
	var next []v1.ObservedCustomResource
	for _, r := range o.resources {
		if r.Kind == "" {
			continue // a resource without a definition has no kind to record
		}
		before, known := rest[r.GroupVersionKind]
		delete(rest, r.GroupVersionKind)
		next = append(next, v1.ObservedCustomResource{Group: r.Group, Version: r.Version, Kind: r.Kind, Generation: r.Generation, UID: r.UID})
		switch {
		case known && before.UID == r.UID && before.Generation > r.Generation:
			return false, nil, nil
		case known && before.UID == r.UID:
			forward = forward || before.Generation < r.Generation
		case known || !first:
			if err := c.succeeds(ctx, r, before); err != nil {
				return false, nil, err
			}
			forward = true
		}
	}
	for kind, before := range rest {
		now := c.types.Find(kind)
		switch {
		case first: // of another generation of the policy
		case before.UID == "" || before.UID == now.UID:
			// Another version of the server looks at more of the policy.
			next = append(next, before)
		default:
			if err := c.succeeds(ctx, now, before); err != nil {
				return false, nil, err
			}
			forward = true
		}
	}
	slices.SortFunc(next, func(a, b v1.ObservedCustomResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	return forward, next, nil
}

func gvk(r v1.ObservedCustomResource) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// generations returns the oldest and the newest generation of the policy that parts of a
// status are about, 0 for a part that is missing.
func generations(status *v1.ValidatingAdmissionPolicyStatus) (oldest, newest int64) {
	oldest, newest = status.ObservedGeneration, status.ObservedGeneration
	for _, name := range []string{v1.PolicyConditionAvailable, v1.PolicyConditionTypeChecked} {
		var of int64
		if condition := meta.FindStatusCondition(status.Conditions, name); condition != nil {
			of = condition.ObservedGeneration
		}
		oldest, newest = min(oldest, of), max(newest, of)
	}
	return oldest, newest
}

// better tells whether conditions say more than others about the same states. Knowing is
// better than not, and being available better than not: what one server cannot do, because
// it is older or cannot reach another, others can.
func better(a, b []metav1.Condition) bool {
	known := []metav1.ConditionStatus{metav1.ConditionUnknown, metav1.ConditionFalse, metav1.ConditionTrue}
	rank := func(conditions []metav1.Condition, name string) int {
		if condition := meta.FindStatusCondition(conditions, name); condition != nil {
			return slices.Index(known, condition.Status)
		}
		return -1
	}
	const available, checked = v1.PolicyConditionAvailable, v1.PolicyConditionTypeChecked
	return cmp.Or(
		cmp.Compare(rank(a, available), rank(b, available)),
		cmp.Compare(min(rank(a, checked), 1), min(rank(b, checked), 1)),
	) > 0
}
