// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/expression"
	"celador.io/admission/matching"
	"celador.io/admission/params"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
)

// Config configures an Engine. The zero value serves policies that need neither namespaces, params
// nor authorization.
type Config struct {
	// Features are the enabled features. Fields that need another feature are ignored.
	Features policyspec.Features
	// Compiler compiles expressions. Nil means expression.Default().
	Compiler *expression.Compiler
	// Namespaces looks up the namespaces of requests. Without it, requests for namespaced objects
	// fail if a policy with a namespaceSelector may match or an expression is evaluated.
	Namespaces matching.NamespaceGetter
	// Params gives access to param objects. Without it, the failurePolicy decides about requests that
	// match a policy with a paramKind.
	Params params.Source
	// Authorizer answers expressions that read 'authorizer'. Without it, such expressions fail.
	Authorizer authorizer.UnconditionalAuthorizer
}

// Engine evaluates validating policies. Safe for concurrent use.
type Engine struct {
	config Config
	kind   policy.Kind[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding, Body]
}

// Store holds policies and bindings compiled and up to date.
type Store = policy.Store[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding, Body]

// Snapshot holds the policies that are in effect at one time, with their bindings.
type Snapshot = policy.Snapshot[Body]

// NewEngine returns an engine with the given configuration.
func NewEngine(config Config) *Engine {
	if config.Compiler == nil {
		config.Compiler = expression.Default()
	}
	e := &Engine{config: config}
	e.kind.Policy, e.kind.Binding = e.compile, e.binding
	return e
}

// NewStore returns an empty store. Objects that are put into it must not be changed afterwards.
func (e *Engine) NewStore() *Store {
	return policy.NewStore(e.kind, e.config.Params, e.config.Features[policyspec.TypeEnforcement])
}

// NewSnapshot returns a snapshot of the given objects, which do not change: policies and bindings
// of version v1, with the Go types of celador.io/api or of k8s.io/api. It returns an error for
// objects of other types. A snapshot has no params, and type errors do not keep its policies from
// deciding.
func (e *Engine) NewSnapshot(objects ...runtime.Object) (*Snapshot, error) {
	policies, bindings, err := policyspec.Sort[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding](objects)
	if err != nil {
		return nil, err
	}
	static := NewEngine(Config{Features: e.config.Features.Without(policyspec.TypeEnforcement), Compiler: e.config.Compiler})
	return policy.NewSnapshot(static.kind, policies, bindings), nil
}

// Errors returns the errors by which the policy cannot decide as written, whatever the types of
// objects. The error of a field begins with the field's path. The policy is not changed.
func (e *Engine) Errors(p *v1.ValidatingAdmissionPolicy) []error { return e.compile(p).Errors() }

// Evaluate returns the result of evaluating the policies of the snapshots for a request, one
// snapshot after the other. Failures of a policy are part of the result. An error means that the
// request cannot be evaluated and must be rejected with it, whatever the policies' failurePolicy
// is: its namespace is not found, or its context is done.
func (e *Engine) Evaluate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, snapshots ...*Snapshot) (Result, error) {
	// One allocation serves both.
	made := &struct {
		evaluation
		request matching.Request
	}{
		evaluation: evaluation{ctx: ctx, objects: objects, engine: e, result: Result{attributes: a}},
		request:    *matching.NewRequest(ctx, a, objects, e.config.Namespaces),
	}
	evaluation := &made.evaluation
	evaluation.request = &made.request
	evaluation.matches = policy.NewMatches[Body](ctx, evaluation.request)
	for _, snapshot := range snapshots {
		if err := evaluation.evaluate(snapshot); err != nil {
			return Result{}, err
		}
	}
	if interrupted := evaluation.request.Interrupted(); interrupted != nil {
		return Result{}, interrupted
	}
	return evaluation.result, nil
}
