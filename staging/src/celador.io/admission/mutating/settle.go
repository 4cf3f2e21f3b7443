// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/policyspec"
)

// maxRounds is how often mutations are made again before they count as never settling.
const maxRounds = 10

// settle makes mutations that may be made again until they change nothing any more. Those
// that never do are failures: what they leave would be up to the number of rounds
// (KEP-3775, "Preventing recursion in mutations").
func (r *application) settle() error {
	if !r.engine.config.Features[policyspec.InlineExpressions] || !r.repeated {
		return nil
	}
	before, mutations := *r.versioned, len(r.result.Mutations)
	// The object before is not to be changed in place.
	r.states.own = nil
	var unsettled []*invocation
	for range maxRounds {
		var err error
		if unsettled, err = r.repeat(); err != nil || len(unsettled) == 0 {
			return err
		}
	}
	names := make([]string, len(unsettled))
	for i, u := range unsettled {
		names[i] = fmt.Sprintf("'%s' with binding '%s'", u.Name, u.binding.Name())
	}
	message := fmt.Sprintf("mutations never settle: after %d more rounds the object is still changed by policy %s", maxRounds, strings.Join(names, ", policy "))
	for _, u := range unsettled {
		r.fail(u.Policy, u.binding.Name(), message, metav1.StatusReasonInvalid)
	}
	// Where that is ignored, the request goes on as if nothing had been made once more.
	*r.versioned, r.result.Mutations = before, r.result.Mutations[:mutations]
	return nil
}

// repeat makes the mutations that were made before and may be made again, and returns the
// invocations that changed the object.
func (r *application) repeat() (changed []*invocation, _ error) {
	for n := range r.invocations {
		i := &r.invocations[n]
		again := func(index int) bool { return i.Body.mutations[index].again && r.state.Asked(i.key(index)) }
		if !i.any(again) {
			continue
		}
		if interrupted := r.request.Interrupted(); interrupted != nil {
			return nil, interrupted
		}
		if err := r.convert(i.target.Kind); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if r.exempt(i) {
			continue
		}
		before := r.versioned.VersionedObject.Object()
		if _, err := r.mutate(i, again); err != nil {
			return nil, err
		}
		if !same(before, r.versioned.VersionedObject.Object()) {
			changed = append(changed, i)
		}
	}
	return changed, nil
}

func (i *invocation) any(of func(index int) bool) bool {
	for index := range i.Body.mutations {
		if of(index) {
			return true
		}
	}
	return false
}
