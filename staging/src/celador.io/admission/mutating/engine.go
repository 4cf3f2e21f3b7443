// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"errors"

	v1 "celador.io/api/admissionregistration/v1"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/internal/reinvocation"
	"celador.io/admission/internal/structuredmerge"
	"celador.io/admission/matching"
	"celador.io/admission/policy"
	"celador.io/admission/review"
)

// Config configures an Engine. Only TypeConverters is required.
type Config struct {
	policy.Config
	// TypeConverters holds the schemas by which apply configurations are merged. Requests for kinds
	// without a schema fail.
	TypeConverters TypeConverters
	// PluginName is the key under which the engine keeps its state in the reinvocation context of a
	// request. It must differ between the engines of a server.
	PluginName string
}

// Engine applies mutating policies. Safe for concurrent use.
type Engine struct {
	policy.Engine[*v1.MutatingAdmissionPolicy, *v1.MutatingAdmissionPolicyBinding, Body]
	typeConverters TypeConverters
	pluginName     string
	shapes         structuredmerge.Shapes
}

// Store holds compiled policies and bindings. See policy.Store.
type Store = policy.Store[*v1.MutatingAdmissionPolicy, *v1.MutatingAdmissionPolicyBinding, Body]

// Snapshot holds the policies that are in effect at one time, with their bindings.
type Snapshot = policy.Snapshot[Body]

// NewEngine returns an engine with the given configuration.
func NewEngine(config Config) *Engine {
	if config.Compiler == nil {
		config.Compiler = expression.Default()
	}
	e := &Engine{typeConverters: config.TypeConverters, pluginName: config.PluginName}
	e.Config = config.Config
	e.Descriptor.Policy, e.Descriptor.Binding = e.policy, e.binding
	return e
}

// Options select what the result of one request reports.
type Options struct {
	// Changes asks for Mutation.Changed and Mutation.Fields, at the cost of one deep comparison
	// of the object for each mutation.
	Changes bool
}

// Mutate applies the policies of the snapshots to the object of a request, one snapshot after the
// other. Failures of a policy are part of the result. The caller must reject the request with the
// error, if there is one, whatever the policies' failurePolicy is. The result is valid also with an
// error. If the context of the request is done, Mutate returns an error and leaves the object
// unchanged.
func (e *Engine) Mutate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, options Options, snapshots ...*Snapshot) (Result, error) {
	r := &applier{
		ctx: ctx, request: *matching.NewRequest(ctx, a, objects, e.Namespaces),
		objects: objects, engine: e, options: options, result: Result{attributes: a},
	}
	r.matches.Init(ctx, &r.request)
	for _, snapshot := range snapshots {
		r.collect(snapshot)
	}
	if interrupted := r.request.Interrupted(); interrupted != nil {
		return r.result, interrupted
	}
	if len(r.invocations) == 0 {
		return r.result, nil
	}
	err := r.applyAll()
	return r.result, err
}

// Review returns the response to the AdmissionReview of a request, with the error and the audit
// annotations of the result of Mutate, and the patch of all mutations.
func (e *Engine) Review(ctx context.Context, r *review.Request, options Options, snapshots ...*Snapshot) *admissionv1.AdmissionResponse {
	result, err := e.Mutate(ctx, r, review.Objects(), options, snapshots...)
	if err != nil {
		return r.Response(err)
	}
	result.Annotate(klog.FromContext(ctx), r)
	return r.Response(result.Err())
}

// applyAll applies the collected invocations, one after the other.
func (r *applier) applyAll() error {
	r.state = reinvocation.Of[key](r.request.Attributes, r.engine.pluginName)
	if r.request.GetReinvocationContext().IsReinvoke() {
		r.run = 1
		r.state.Resume(r.request.GetObject())
	}
	defer func() { r.state.Suspend(r.request.GetObject()) }()

	namespace, err := r.request.Namespace()
	if err != nil {
		var status *apierrors.StatusError
		if errors.As(err, &status) {
			return status
		}
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, r.request.GetNamespace())
	}
	r.namespace = activation.NewNamespace(namespace)
	r.authorizer = activation.NewAuthorizerValue(r.engine.Authorizer)
	defer r.countEvaluations()
	for i := range r.invocations {
		if err := r.applyPolicy(&r.invocations[i]); err != nil {
			return err
		}
	}
	if err := r.settle(); err != nil {
		return err
	}
	// If the request was interrupted during the last expression, this looks like a failure of the
	// expression, which failurePolicy may ignore. The request must end nevertheless.
	if interrupted := r.request.Interrupted(); interrupted != nil {
		return interrupted
	}
	return r.writeBack()
}
