// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"

	v1 "celador.io/api/admissionregistration/v1"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"celador.io/admission/cel/expression"
	"celador.io/admission/matching"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
	"celador.io/admission/review"
)

// Config configures an Engine.
type Config = policy.Config

// Engine evaluates validating policies. Safe for concurrent use.
type Engine struct {
	policy.Engine[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding, Body]
	// hasRequestTime is set if expressions can read 'request.time'.
	hasRequestTime bool
}

// Store holds compiled policies and bindings. See policy.Store.
type Store = policy.Store[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding, Body]

// Snapshot holds the policies that are in effect at one time, with their bindings.
type Snapshot = policy.Snapshot[Body]

// NewEngine returns an engine with the given configuration.
func NewEngine(config Config) *Engine {
	if config.Compiler == nil {
		config.Compiler = expression.Default()
	}
	e := &Engine{hasRequestTime: config.Features[policyspec.RequestTime]}
	e.Config = config
	e.Descriptor.Policy, e.Descriptor.Binding = e.policy, e.binding
	return e
}

// Evaluate returns the result of evaluating the policies of the snapshots for a request, one
// snapshot after the other. Failures of a policy are part of the result. The caller must reject the
// request with the error, if there is one, whatever the policies' failurePolicy is. Evaluate
// returns an error if the namespace of the request is not found or its context is done. The caller
// may call Result.Free when it no longer needs the result.
func (e *Engine) Evaluate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, snapshots ...*Snapshot) (Result, error) {
	request := matching.NewRequest(ctx, a, objects, e.Namespaces)
	if policy.NoneMatch(ctx, request, snapshots) {
		if interrupted := request.Interrupted(); interrupted != nil {
			return Result{}, interrupted
		}
		return Result{attributes: a}, nil
	}
	evaluation := newEvaluation(ctx, e, request, objects)
	for _, snapshot := range snapshots {
		if err := evaluation.evaluate(snapshot); err != nil {
			evaluation.free()
			return Result{}, err
		}
	}
	if interrupted := evaluation.request.Interrupted(); interrupted != nil {
		evaluation.free()
		return Result{}, interrupted
	}
	result := evaluation.result
	result.memory = evaluation
	return result, nil
}

// Review returns the response to the AdmissionReview of a request, with the error, the warnings and
// the audit annotations of the result of Evaluate.
func (e *Engine) Review(ctx context.Context, r *review.Request, snapshots ...*Snapshot) *admissionv1.AdmissionResponse {
	result, err := e.Evaluate(ctx, r, review.Objects(), snapshots...)
	if err != nil {
		return r.Response(err)
	}
	defer result.Free()
	result.Annotate(klog.FromContext(ctx), r)
	return r.Response(result.Err(), result.Warnings()...)
}
