// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/cel/expression"
	"celador.io/admission/matching"
	"celador.io/admission/params"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
)

// Config configures an Engine. The zero value suffices for policies that use neither namespaces,
// params nor the authorizer.
type Config struct {
	// Features are the enabled features. Fields that need another feature are ignored.
	Features policyspec.Features
	// Compiler compiles expressions. Nil means expression.Default().
	Compiler *expression.Compiler
	// Namespaces looks up the namespaces of requests. Without it, requests for namespaced objects
	// fail if a policy with a namespaceSelector may match or an expression is evaluated.
	Namespaces matching.NamespaceGetter
	// Params gives access to param objects. Without it, policies with a paramKind fail the requests
	// that they match.
	Params params.Source
	// Authorizer answers expressions that read 'authorizer'. Without it, such expressions fail.
	Authorizer authorizer.UnconditionalAuthorizer
}

// Engine evaluates validating policies. Safe for concurrent use.
type Engine struct {
	config Config
	kind   policy.Descriptor[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding, Body]
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
	e := &Engine{config: config}
	e.kind.Policy, e.kind.Binding = e.policy, e.binding
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
	policies, bindings, err := policyspec.Sort[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding](objects)
	if err != nil {
		return nil, err
	}
	return policy.NewSnapshot(e.kind, policies, bindings), nil
}

// Errors returns the errors with which the policy fails requests of any kind, such as compilation
// errors. The error of a field begins with the field's path. Errors does not change the policy.
func (e *Engine) Errors(p *v1.ValidatingAdmissionPolicy) []error { return e.policy(p).Errors() }

// Evaluate returns the result of evaluating the policies of the snapshots for a request, one
// snapshot after the other. Failures of a policy are part of the result. The caller must reject the
// request with the error, if there is one, whatever the policies' failurePolicy is. Evaluate
// returns an error if the namespace of the request is not found or its context is done. The caller
// may call Result.Free.
func (e *Engine) Evaluate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, snapshots ...*Snapshot) (Result, error) {
	request := matching.NewRequest(ctx, a, objects, e.config.Namespaces)
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
