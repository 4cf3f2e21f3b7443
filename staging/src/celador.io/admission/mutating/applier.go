// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"errors"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/internal/activation"
	"celador.io/admission/internal/reinvocation"
	"celador.io/admission/matching"
	"celador.io/admission/policy"
)

// applier applies the policies that match one request to the request's object.
type applier struct {
	ctx     context.Context
	request matching.Request
	objects admission.ObjectInterfaces
	engine  *Engine
	options Options
	matches policy.Matches[Body]

	invocations []invocation

	namespace  *activation.Namespace
	authorizer *activation.AuthorizerValue
	time       activation.ReceivedTime
	// run is 1 when admission is reinvoked, and 0 before.
	run   int
	state *reinvocation.Tracker[key]
	// reinvoked is set if a mutation was reinvoked.
	reinvoked bool
	// versioned holds the object with all mutations so far, in the version of the last policy.
	versioned *admission.VersionedAttributes
	// changed is set if a patch was applied, whether or not the object differs afterwards.
	changed bool
	cache   objectCache
	// inputs has one entry for each target that policies match.
	inputs []*activation.Input
	// values has one entry for each kind that policies match.
	values []*objectValues
	// params is the param of the last evaluation.
	params *activation.ParamValue
	result Result
}

// misconfigured records that a policy could not be applied, as a failure and as an evaluation.
// binding is the name of the binding through which it could not be applied, or empty if it could
// not be applied through any.
func (r *applier) misconfigured(p *policy.Policy[Body], binding, message string) {
	p.CountEvaluation(policy.Failed)
	r.fail(p, binding, message, "")
}

// fail adds a failure of a policy to the result. binding is empty if the failure is not of one
// binding.
func (r *applier) fail(p *policy.Policy[Body], binding, message string, reason metav1.StatusReason) {
	r.result.Failures = append(r.result.Failures, Failure{
		Policy: p.Name, Binding: binding, Message: message, Reason: reason, Ignored: p.FailurePolicy == v1.Ignore,
	})
}

// applyPolicy applies a policy. An error ends the request.
func (r *applier) applyPolicy(i *invocation) error {
	invoked, err := r.applyDue(i, func(index int) bool { return r.run == 0 || r.state.Due(i.key(index)) })
	if err != nil {
		return err
	}
	r.reinvoked = r.reinvoked || r.run > 0 && len(invoked) > 0
	for _, index := range invoked {
		if i.Body.mutations[index].reinvocable {
			r.state.Add(i.key(index))
		}
	}
	return nil
}

// countEvaluations counts one evaluation for each invocation that was evaluated, however often it
// was reinvoked.
func (r *applier) countEvaluations() {
	for n := range r.invocations {
		if i := &r.invocations[n]; i.evaluated {
			i.CountEvaluation(i.outcome)
		}
	}
}

// exempt reports whether match conditions exempt the request from the policy, or fail.
func (r *applier) exempt(i *invocation) bool {
	if len(i.Conditions) == 0 {
		return false
	}
	values := r.valuesOf(i.target.Kind)
	values.form = activation.Typed
	report, err := i.CheckConditions(r.ctx, &activation.Memory{}, r.subject(i, values))
	if report == nil {
		return false
	}
	report.Binding = i.binding.Name()
	r.result.Conditions = append(r.result.Conditions, *report)
	if err != nil {
		i.addOutcome(policy.Failed)
		r.fail(i.Policy, i.binding.Name(), err.Error(), metav1.StatusReasonInvalid)
	}
	return true
}

// applyDue applies the mutations for whose indexes due returns true, and returns these indexes. It
// applies none if match conditions exempt the request from the policy. An error ends the request.
func (r *applier) applyDue(i *invocation, due func(index int) bool) (invoked []int, _ error) {
	if interrupted := r.request.Interrupted(); interrupted != nil {
		return nil, interrupted
	}
	if err := r.convert(i.target.Kind); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if r.exempt(i) {
		return nil, nil
	}
	for index := range i.Body.mutations {
		if !due(index) {
			continue
		}
		if interrupted := r.request.Interrupted(); interrupted != nil {
			return nil, interrupted
		}
		invoked = append(invoked, index)
		if r.versioned.VersionedObject.Object() == nil {
			continue // the request has no object
		}
		if err := r.applyMutation(i, index); err != nil {
			// A request that was interrupted, for example because the client has gone, is no
			// failure of the policy.
			if r.request.Interrupted() == nil {
				i.addOutcome(policy.Failed)
			}
			return nil, err
		}
	}
	if len(invoked) > 0 {
		i.addOutcome(policy.Admitted)
	}
	return invoked, nil
}

// applyMutation applies one mutation. An error ends the request.
func (r *applier) applyMutation(i *invocation, index int) error {
	m := &i.Body.mutations[index]
	start := time.Now()
	holds, err := r.conditionHolds(i, m)
	if err == nil && !holds {
		return nil
	}
	record := Mutation{Policy: i.Name, Binding: i.binding.Name(), Index: index, Run: r.run}
	if err == nil {
		err = r.applyPatch(i, m, &record)
	}
	record.Err, record.Elapsed = err, time.Since(start)
	r.result.Mutations = append(r.result.Mutations, record)
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

// failMutation adds the failure of a mutation, with the mutation's own message and reason if it has
// them. failurePolicy Ignore does not apply to two kinds of failures: an expression that refuses
// the request has decided, and Kubernetes rejects requests for some changes of the object's
// identity.
func (r *applier) failMutation(i *invocation, index int, err error) {
	m := &i.Body.mutations[index]
	refused := errors.Is(err, errRefused)
	message, reason := err.Error(), m.reason
	if m.message != "" {
		message = m.message
	}
	if reason == "" {
		reason = metav1.StatusReasonInvalid
	}
	outcome := policy.Failed
	if refused {
		outcome = policy.Denied
	}
	i.addOutcome(outcome)
	r.fail(i.Policy, i.binding.Name(), message, reason)
	failure := &r.result.Failures[len(r.result.Failures)-1]
	failure.Refused, failure.Stated = refused, refused || m.reason != ""
	var identity *identityError
	failure.Ignored = failure.Ignored && !refused && !(errors.As(err, &identity) && identity.rejected)
}

// conditionHolds reports whether the condition of the mutation is true or absent.
func (r *applier) conditionHolds(i *invocation, m *mutation) (bool, error) {
	if m.condition.Absent() {
		return true, nil
	}
	value, err := m.condition.Evaluate(r.series(i))
	return value == types.True, err
}
