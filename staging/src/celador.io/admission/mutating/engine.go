// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"errors"

	v1 "celador.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/internal/reinvocation"
	"celador.io/admission/internal/structuredmerge"
	"celador.io/admission/matching"
	"celador.io/admission/params"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
)

// Config configures an Engine. Only TypeConverters is required.
type Config struct {
	// TypeConverters holds the schemas by which apply configurations are merged. Requests for kinds
	// without a schema fail.
	TypeConverters TypeConverters
	// Features are the enabled features. Fields that need another feature are ignored.
	Features policyspec.Features
	// Compiler compiles expressions. Nil means expression.Default().
	Compiler *expression.Compiler
	// Namespaces looks up the namespaces of requests. Without it, requests for namespaced objects
	// fail if a policy matches.
	Namespaces matching.NamespaceGetter
	// Params gives access to param objects. Without it, policies with a paramKind fail the requests
	// that they match.
	Params params.Source
	// Authorizer answers expressions that read 'authorizer'. Without it, such expressions fail.
	Authorizer authorizer.UnconditionalAuthorizer
	// PluginName is the key under which the engine keeps its state in the reinvocation context of a
	// request. It must differ between the engines of a server.
	PluginName string
}

// Engine applies mutating policies. Safe for concurrent use.
type Engine struct {
	config Config
	shapes structuredmerge.Shapes
	kind   policy.Descriptor[*v1.MutatingAdmissionPolicy, *v1.MutatingAdmissionPolicyBinding, Body]
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
	e := &Engine{config: config}
	e.kind.Policy, e.kind.Binding = e.policy, binding
	return e
}

// NewStore returns an empty store. Objects that are put into it must not be changed afterwards.
func (e *Engine) NewStore() *Store {
	return policy.NewStore(e.kind, e.config.Params, e.config.Features[policyspec.TypeEnforcement])
}

// NewSnapshot returns a snapshot of the given policies and bindings of version v1, which must not
// be changed afterwards. Their Go types are those of celador.io/api or of k8s.io/api. NewSnapshot
// returns an error for objects of other types. A snapshot has no params, and its policies need no
// verdict.
func (e *Engine) NewSnapshot(objects ...runtime.Object) (*Snapshot, error) {
	policies, bindings, err := policyspec.Sort[*v1.MutatingAdmissionPolicy, *v1.MutatingAdmissionPolicyBinding](objects)
	if err != nil {
		return nil, err
	}
	return policy.NewSnapshot(e.kind, policies, bindings), nil
}

// Errors returns the errors with which the policy fails requests of any kind, such as compilation
// errors. The error of a field begins with the field's path. Errors does not change the policy.
func (e *Engine) Errors(p *v1.MutatingAdmissionPolicy) []error { return e.policy(p).Errors() }

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
	// The structs are allocated together, because Mutate is on the path of every request.
	allocated := &struct {
		applier
		request matching.Request
	}{
		applier: applier{ctx: ctx, objects: objects, engine: e, options: options, result: Result{attributes: a}},
		request: *matching.NewRequest(ctx, a, objects, e.config.Namespaces),
	}
	r := &allocated.applier
	r.request = &allocated.request
	r.matches = policy.NewMatches[Body](ctx, r.request)
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

// applyAll applies the collected invocations, one after the other.
func (r *applier) applyAll() error {
	r.state = reinvocation.Of[key](r.request.Attributes, r.engine.config.PluginName)
	if r.request.GetReinvocationContext().IsReinvoke() {
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
	r.authorizer = activation.NewAuthorizer(r.engine.config.Authorizer)
	defer r.countEvaluations()
	for i := range r.invocations {
		if err := r.applyPolicy(&r.invocations[i]); err != nil {
			return err
		}
	}
	if err := r.settle(); err != nil {
		return err
	}
	// An interruption of the last expression looks like its failure.
	if interrupted := r.request.Interrupted(); interrupted != nil {
		return interrupted
	}
	return r.writeBack()
}
