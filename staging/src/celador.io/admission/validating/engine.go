// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/admission"
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/matching"
)

// Engine evaluates requests. Safe for concurrent use.
type Engine struct {
	namespaces matching.NamespaceGetter
	authorizer authorizer.UnconditionalAuthorizer
}

// NewEngine returns an engine that looks namespaces up with the given getter and
// answers expressions that use 'authorizer' with the given authorizer.
func NewEngine(namespaces matching.NamespaceGetter, authz authorizer.UnconditionalAuthorizer) *Engine {
	return &Engine{namespaces: namespaces, authorizer: authz}
}

// Evaluate returns what the policies of the snapshot have to say about a request.
// Policies that do not match contribute nothing. Errors inside a policy are part of
// the result; the returned error means that the request itself cannot be examined,
// because its namespace cannot be found.
func (e *Engine) Evaluate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, snapshot *Snapshot) (Result, error) {
	run := &run{
		ctx:     ctx,
		request: matching.NewRequest(ctx, a, objects, e.namespaces),
		objects: objects,
		engine:  e,
		inputs:  map[matching.Target]*input{},
	}
	for i := range snapshot.policies {
		if err := run.policy(&snapshot.policies[i]); err != nil {
			return Result{}, err
		}
	}
	return run.result, nil
}

// run is the evaluation of one request.
type run struct {
	ctx        context.Context
	request    *matching.Request
	objects    admission.ObjectInterfaces
	engine     *Engine
	authorizer authorizer.UnconditionalAuthorizer
	inputs     map[matching.Target]*input
	// namespace is nil until the first policy is evaluated.
	namespace ref.Val
	result    Result
}

func (r *run) policy(p *boundPolicy) error {
	target, matches, err := p.criteria.Match(r.request)
	if err == nil && matches {
		err = p.invalid
	}
	if err != nil {
		r.misconfigured(p.policy, "", fmt.Errorf("failed to configure policy: %w", err))
		return nil
	}
	if !matches {
		return nil
	}
	// Expressions do not see the binding, so all bindings share one evaluation.
	var evaluated *evaluation
	var annotations annotations
	for _, b := range p.bindings {
		if b.criteria != nil {
			_, matches, err := b.criteria.Match(r.request)
			if err != nil {
				r.misconfigured(p.policy, b.name, fmt.Errorf("failed to configure binding: %w", err))
				continue
			}
			if !matches {
				continue
			}
		}
		in, err := r.input(target)
		if err != nil {
			r.misconfigured(p.policy, b.name, fmt.Errorf("failed to configure binding: failed to convert object version: %w", err))
			continue
		}
		if r.namespace == nil {
			namespace, err := r.request.Namespace()
			if err != nil {
				return err
			}
			r.namespace = namespaceValue(namespace)
		}
		if evaluated == nil {
			evaluated = p.evaluate(r.ctx, in, r.namespace)
		}
		r.report(p.policy, b, evaluated, &annotations)
	}
	r.result.Annotations = append(r.result.Annotations, annotations.named(p.name)...)
	return nil
}

func (r *run) input(target matching.Target) (*input, error) {
	if in, ok := r.inputs[target]; ok {
		return in, nil
	}
	if r.authorizer == nil && r.engine.authorizer != nil {
		r.authorizer = admissionauthorizer.NewCachingAuthorizer(r.engine.authorizer)
	}
	in, err := newInput(r.request, target, r.objects, r.authorizer)
	if err == nil {
		r.inputs[target] = in
	}
	return in, err
}

func (r *run) misconfigured(p *policy, binding string, err error) {
	r.result.Decisions = append(r.result.Decisions, Decision{
		Policy:  p.name,
		Binding: binding,
		Actions: []v1.ValidationAction{v1.Deny},
		Outcome: Misconfigured,
		Ignored: p.failurePolicy == v1.Ignore,
		Message: err.Error(),
	})
}

// report adds what an evaluation found to the result, in the name of a binding.
func (r *run) report(p *policy, b *binding, evaluated *evaluation, annotations *annotations) {
	if evaluated.conditions != nil {
		r.result.Conditions = append(r.result.Conditions, *evaluated.conditions)
	}
	for _, decision := range evaluated.decisions {
		decision.Policy, decision.Binding, decision.Actions = p.name, b.name, b.actions
		r.result.Decisions = append(r.result.Decisions, decision)
	}
	for _, found := range evaluated.annotations {
		if found.failure == nil {
			annotations.add(found.key, found.value)
			continue
		}
		decision := *found.failure
		decision.Policy, decision.Binding, decision.Actions = p.name, b.name, []v1.ValidationAction{v1.Deny}
		r.result.Decisions = append(r.result.Decisions, decision)
	}
}

// annotations collects the values of one policy's audit annotations. Bindings and
// parameters may give several distinct values for a key.
type annotations struct {
	keys   []string
	values map[string][]string
}

func (a *annotations) add(key, value string) {
	if a.values == nil {
		a.values = map[string][]string{}
	}
	if !slices.Contains(a.keys, key) {
		a.keys = append(a.keys, key)
	}
	if !slices.Contains(a.values[key], value) {
		a.values[key] = append(a.values[key], value)
	}
}

func (a *annotations) named(policy string) []Annotation {
	var result []Annotation
	for _, key := range a.keys {
		result = append(result, Annotation{Key: policy + "/" + key, Value: strings.Join(a.values[key], ", ")})
	}
	return result
}
