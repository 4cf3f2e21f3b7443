// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
)

// maxRounds is the maximum number of additional rounds of settle.
const maxRounds = 10

// settle repeats mutations with reinvocationPolicy IfNeeded, in up to maxRounds rounds, until a
// round changes nothing. It does nothing without the feature InlineExpressions, or if the present
// run of admission has reinvoked no mutation. All rounds belong to this run. A policy that still
// changes the object in the last round fails, because the object would depend on the number of
// rounds (KEP-3962, "Preventing recursion in mutations").
func (r *applier) settle() error {
	if !r.engine.Features[policyspec.InlineExpressions] || !r.reinvoked {
		return nil
	}
	before, mutations := *r.versioned, len(r.result.Mutations)
	if object := before.VersionedObject.Object(); object == r.request.GetObject() {
		// A custom resource in the version of the policy is the request's object itself. The rounds
		// overwrite that object when they convert it for policies of other versions, so restoring
		// it needs a copy.
		before.UpdateObject(object.DeepCopyObject())
	}
	// The object is restored below if the mutations do not settle. Patchers must therefore copy it,
	// and not default it in place.
	r.cache.own = nil
	var unsettled []*invocation
	for range maxRounds {
		var err error
		if unsettled, err = r.reinvoke(); err != nil || len(unsettled) == 0 {
			return err
		}
	}
	names := make([]string, len(unsettled))
	for i, u := range unsettled {
		names[i] = fmt.Sprintf("'%s'", u.Name)
		if binding := u.binding.Name(); binding != "" { // a Singleton has none
			names[i] += fmt.Sprintf(" with binding '%s'", binding)
		}
	}
	message := fmt.Sprintf("mutations never settle: after %d more rounds the object is still changed by policy %s", maxRounds, strings.Join(names, ", policy "))
	for _, u := range unsettled {
		u.addOutcome(policy.Failed)
		r.fail(u.Policy, u.binding.Name(), message, metav1.StatusReasonInvalid)
	}
	// If failurePolicy ignores the failures, the request continues with the object as it was before
	// the rounds.
	*r.versioned, r.result.Mutations = before, r.result.Mutations[:mutations]
	return nil
}

// reinvoke applies the reinvocable mutations that were applied before, and returns the invocations
// that changed the object.
func (r *applier) reinvoke() (changed []*invocation, _ error) {
	for n := range r.invocations {
		i := &r.invocations[n]
		due := func(index int) bool { return i.Body.mutations[index].reinvocable && r.state.Asked(i.key(index)) }
		if !i.hasMutation(due) {
			continue
		}
		if interrupted := r.request.Interrupted(); interrupted != nil {
			return nil, interrupted
		}
		if err := r.convert(i.target.Kind); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		before := r.versioned.VersionedObject.Object()
		if _, err := r.applyDue(i, due); err != nil {
			return nil, err
		}
		if after := r.versioned.VersionedObject.Object(); before != after && !apiequality.Semantic.DeepEqual(before, after) {
			changed = append(changed, i)
		}
	}
	return changed, nil
}

// hasMutation reports whether the policy has a mutation whose index satisfies the predicate.
func (i *invocation) hasMutation(satisfies func(index int) bool) bool {
	for index := range i.Body.mutations {
		if satisfies(index) {
			return true
		}
	}
	return false
}
