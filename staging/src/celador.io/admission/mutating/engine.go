// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/activation"
	"celador.io/admission/matching"
	"celador.io/admission/policy"
	"celador.io/admission/reinvocation"
)

// Engine changes the objects of requests. Safe for concurrent use.
type Engine struct {
	plugin     string
	namespaces matching.NamespaceGetter
	authorizer authorizer.UnconditionalAuthorizer
	converters TypeConverters
	features   Features
}

// NewEngine returns an engine that looks namespaces up with the given getter, answers
// expressions that use 'authorizer' with the given authorizer, and merges apply
// configurations by the schemas that converters know. It keeps what it has to know when
// admission runs again under the name of the admission plugin.
func NewEngine(plugin string, namespaces matching.NamespaceGetter, authz authorizer.UnconditionalAuthorizer, converters TypeConverters, features Features) *Engine {
	return &Engine{plugin, namespaces, authz, converters, features}
}

// Options select what the result of one request reports.
type Options struct {
	// Changes asks for Mutation.Changed and Mutation.Fields, at the cost of one deep comparison
	// of the object for each mutation.
	Changes bool
}

// Mutate changes the object of a request as the policies of the snapshots, one after the
// other, say. Policies that do not match contribute nothing. The result is complete also
// with an error, which means that the request has to fail with that status whatever the
// policies' failurePolicy is. A request whose context is done ends with an error, and its
// object is left as it was.
func (e *Engine) Mutate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, options Options, snapshots ...*Snapshot) (Result, *apierrors.StatusError) {
	// One piece of memory for both.
	made := &struct {
		run
		request matching.Request
	}{
		run:     run{ctx: ctx, objects: objects, engine: e, options: options},
		request: *matching.NewRequest(ctx, a, objects, e.namespaces),
	}
	run := &made.run
	run.request = &made.request
	run.walk = policy.NewWalk(ctx, run.request, run)
	for _, snapshot := range snapshots {
		// The walk fails only if the request is interrupted, which is also found below.
		if run.walk.Through(snapshot) != nil {
			break
		}
	}
	if interrupted := run.request.Interrupted(); interrupted != nil || len(run.invocations) == 0 {
		return run.result, interrupted
	}
	err := run.all()
	return run.result, err
}

// all invokes what the walk has found.
func (r *run) all() *apierrors.StatusError {
	again := r.request.GetReinvocationContext()
	r.state = reinvocation.Of[key](r.request.Attributes, r.engine.plugin)
	if again.IsReinvoke() {
		r.round = 1
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
	r.authorizer = activation.NewAuthorizer(r.engine.authorizer)
	for i := range r.invocations {
		if err := r.invoke(&r.invocations[i]); err != nil {
			return err
		}
	}
	if err := r.settle(); err != nil {
		return err
	}
	// The last expression may have been interrupted.
	if interrupted := r.request.Interrupted(); interrupted != nil {
		return interrupted
	}
	return r.writeBack()
}
