// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"errors"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/activation"
	"celador.io/admission/matching"
	"celador.io/admission/policy"
	"celador.io/admission/reinvocation"
)

// run is what the policies do with one request.
type run struct {
	ctx     context.Context
	request *matching.Request
	objects admission.ObjectInterfaces
	engine  *Engine
	options Options
	walk    policy.Walk[body]

	// current and target are what the walk is at.
	current     *policy.Policy[body]
	target      matching.Target
	kinds       []kindError
	invocations []invocation

	namespace  *activation.Namespace
	authorizer *activation.Authorizer
	// round is 1 when admission runs a second time.
	round int
	state *reinvocation.State[key]
	// repeated is set when mutations were made again.
	repeated bool
	// versioned has the object as the mutations so far made it.
	versioned *admission.VersionedAttributes
	// changed is set when a mutation was made, whether or not the object is another one.
	changed bool
	states  states
	// inputs and views hold one entry for each target and kind that policies match. Both are
	// short.
	inputs []targetInput
	views  []*view
	// params is the param of the last evaluation.
	params *activation.Params
	result Result
}

func (r *run) fail(p *policy.Policy[body], b *policy.Binding, message string, reason metav1.StatusReason) {
	failure := Failure{Policy: p.Name, Message: message, Reason: reason, Ignored: p.FailurePolicy == v1.Ignore}
	if b != nil {
		failure.Binding = b.Name()
	}
	r.result.Failures = append(r.result.Failures, failure)
}

// invoke applies a policy. The error ends the request.
func (r *run) invoke(i *invocation) *apierrors.StatusError {
	if interrupted := r.request.Interrupted(); interrupted != nil {
		return interrupted
	}
	if err := r.convert(i.target.Kind); err != nil {
		return apierrors.NewInternalError(err)
	}
	if !r.matches(i) {
		return nil
	}
	invoked, err := r.mutate(i, func(index int) bool { return r.round == 0 || r.state.Due(i.key(index)) })
	if err != nil {
		return err
	}
	r.repeated = r.repeated || r.round > 0 && len(invoked) > 0
	for _, index := range invoked {
		if i.Body.mutations[index].again {
			r.state.Add(i.key(index))
		}
	}
	return nil
}

func same(a, b runtime.Object) bool { return a == b || apiequality.Semantic.DeepEqual(a, b) }

// matches says whether the match conditions of a policy let it apply.
func (r *run) matches(i *invocation) bool {
	if len(i.Conditions) == 0 {
		return true
	}
	view := r.view(i.target.Kind)
	view.form = activation.Typed
	report, err := i.CheckConditions(r.ctx, r.subject(i, view))
	if report == nil {
		return true
	}
	r.result.Conditions = append(r.result.Conditions, *report)
	if err != nil {
		r.fail(i.Policy, i.binding, err.Error(), metav1.StatusReasonInvalid)
	}
	return false
}

// mutate makes those of the mutations that are due, and returns which these are. The error
// ends the request.
func (r *run) mutate(i *invocation, due func(index int) bool) (invoked []int, _ *apierrors.StatusError) {
	for index := range i.Body.mutations {
		if !due(index) {
			continue
		}
		if interrupted := r.request.Interrupted(); interrupted != nil {
			return nil, interrupted
		}
		invoked = append(invoked, index)
		if r.versioned.VersionedObject.Object() == nil {
			continue // a request without an object
		}
		if err := r.mutation(i, index); err != nil {
			return nil, err
		}
	}
	return invoked, nil
}

// mutation makes one of the mutations.
func (r *run) mutation(i *invocation, index int) *apierrors.StatusError {
	m := &i.Body.mutations[index]
	start := time.Now()
	wanted, err := r.wanted(i, m)
	if err == nil && !wanted {
		return nil
	}
	made := Mutation{Policy: i.Name, Binding: i.binding.Name(), Index: index, Round: r.round}
	if err == nil {
		err = r.change(i, m, &made)
	}
	made.Err, made.Elapsed = err, time.Since(start)
	r.result.Mutations = append(r.result.Mutations, made)
	var status *apierrors.StatusError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &status):
		return status
	default:
		r.failMutation(i, index, err)
		return nil
	}
}

// failMutation says what the author of the policy has to say, or else what went wrong. That
// an expression refuses the request is not a failure, which could be ignored.
func (r *run) failMutation(i *invocation, index int, err error) {
	m := &i.Body.mutations[index]
	refused := errors.Is(err, errRefused)
	message, reason := err.Error(), m.reason
	if m.message != "" {
		message = m.message
	}
	if reason == "" {
		reason = metav1.StatusReasonInvalid
	}
	r.fail(i.Policy, i.binding, message, reason)
	failure := &r.result.Failures[len(r.result.Failures)-1]
	failure.Stated = refused || m.reason != ""
	failure.Ignored = failure.Ignored && !refused
}

// wanted says what the mutation's own condition says.
func (r *run) wanted(i *invocation, m *mutation) (bool, error) {
	if m.condition.Absent() {
		return true, nil
	}
	value, err := m.condition.Evaluate(r.series(i))
	return value == types.True, err
}
