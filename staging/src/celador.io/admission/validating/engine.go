// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/activation"
	"celador.io/admission/matching"
	"celador.io/admission/policy"
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

// Evaluate returns what the policies of the snapshots, one after the other, have to say
// about a request. Policies that do not match contribute nothing. Errors inside a policy
// are part of the result; the returned error means that the request itself cannot be
// examined, because its namespace cannot be found or its context is done.
func (e *Engine) Evaluate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, snapshots ...*Snapshot) (Result, error) {
	// One piece of memory for both.
	made := &struct {
		run
		request matching.Request
	}{
		run:     run{ctx: ctx, objects: objects, engine: e},
		request: *matching.NewRequest(ctx, a, objects, e.namespaces),
	}
	run := &made.run
	run.request = &made.request
	run.walk = policy.NewWalk(ctx, run.request, run)
	for _, snapshot := range snapshots {
		if err := run.walk.Through(snapshot); err != nil {
			return Result{}, err
		}
	}
	// The last expression may have been interrupted.
	if interrupted := run.request.Interrupted(); interrupted != nil {
		return Result{}, interrupted
	}
	return run.result, nil
}

// run is the evaluation of one request.
type run struct {
	ctx     context.Context
	request *matching.Request
	objects admission.ObjectInterfaces
	engine  *Engine
	walk    policy.Walk[body]
	// authorizer is what all expressions of the request share. Nil until there is an
	// input, or without any.
	authorizer *activation.Authorizer
	// inputs are few: one for each version and resource that policies ask for.
	inputs []targetInput
	// namespace is nil until the first policy is evaluated.
	namespace *activation.Namespace
	// policy is the one that is evaluated now.
	policy matchedPolicy
	result Result
	// planned is what Fetch has read, for the compiler not to leave that out.
	planned int
}

var _ policy.Visitor[body] = &run{}

// matchedPolicy is a policy that matches the request.
type matchedPolicy struct {
	compiledPolicy
	target matching.Target
	// evaluation is the one without a param. The others are by param.
	evaluation  *evaluation
	evaluations map[*unstructured.Unstructured]*evaluation
	annotations annotations
}

// Fetch implements policy.Visitor. It reads the list of expressions, then which they are,
// and then a little of each.
func (r *run) Fetch(p *policy.Policy[body], pass policy.Pass) (more bool) {
	if pass == 0 {
		r.planned += len(p.Body.validations)
		return true
	}
	for i := range p.Body.validations {
		switch program := p.Body.validations[i].Program; {
		case program == nil:
		case pass == 1:
			r.planned++
		default:
			r.planned += program.Planned()
		}
	}
	return pass < 2
}

// Enter implements policy.Visitor.
func (r *run) Enter(p *policy.Policy[body], target matching.Target) {
	r.policy = matchedPolicy{compiledPolicy: compiledPolicy{p}, target: target}
}

// Reach implements policy.Visitor.
func (r *run) Reach(*policy.Binding) bool { return true }

// Apply evaluates the policy through one of its bindings, once for each param.
func (r *run) Apply(b *policy.Binding, params []*unstructured.Unstructured) error {
	p := &r.policy
	var in *activation.Input
	if len(params) > 0 {
		var err error
		if in, err = r.input(p.target); err != nil {
			r.Misconfigured(p.Policy, b, fmt.Errorf("failed to configure binding: failed to convert object version: %w", err))
			return nil
		}
	}
	if r.namespace == nil {
		object, err := r.request.Namespace()
		if err != nil {
			return err
		}
		r.namespace = activation.NewNamespace(object)
	}
	for _, param := range params {
		if interrupted := r.request.Interrupted(); interrupted != nil {
			return interrupted
		}
		r.report(p, b, r.evaluation(p, in, param))
	}
	return nil
}

// Leave implements policy.Visitor.
func (r *run) Leave() {
	r.result.Annotations = append(r.result.Annotations, r.policy.annotations.named(r.policy.Name)...)
}

// Misconfigured implements policy.Visitor.
func (r *run) Misconfigured(p *policy.Policy[body], b *policy.Binding, err error) {
	binding := ""
	if b != nil {
		binding = b.Name()
	}
	decision := Decision{Outcome: Misconfigured, Ignored: p.FailurePolicy == v1.Ignore, Message: err.Error()}
	r.add(application{p.Name, binding, denyOnly, []Decision{decision}})
}

// evaluation evaluates the policy, unless another binding led to the same: expressions
// do not see the binding, and many do not see the param.
func (r *run) evaluation(p *matchedPolicy, in *activation.Input, param *unstructured.Unstructured) *evaluation {
	if !p.ReadsParams || param == nil {
		if p.evaluation == nil {
			p.evaluation = p.evaluate(r.ctx, activation.Subject{Input: in, Namespace: r.namespace})
		}
		return p.evaluation
	}
	evaluated, ok := p.evaluations[param]
	if !ok {
		evaluated = p.evaluate(r.ctx, activation.Subject{Input: in, Namespace: r.namespace, Params: activation.NewParams(param, activation.Unstructured)})
		if p.evaluations == nil {
			p.evaluations = map[*unstructured.Unstructured]*evaluation{}
		}
		p.evaluations[param] = evaluated
	}
	return evaluated
}

// targetInput is the input that all policies with one target share.
type targetInput struct {
	matching.Target
	*activation.Input
}

func (r *run) input(target matching.Target) (*activation.Input, error) {
	for _, in := range r.inputs {
		if in.Target == target {
			return in.Input, nil
		}
	}
	object, err := r.convert(r.request.GetObject(), target)
	if err != nil {
		return nil, err
	}
	oldObject, err := r.convert(r.request.GetOldObject(), target)
	if err != nil {
		return nil, err
	}
	if r.authorizer == nil {
		r.authorizer = activation.NewAuthorizer(r.engine.authorizer)
	}
	in := activation.NewInput(r.request, target.Resource, target.Kind, object, oldObject, r.authorizer)
	r.inputs = append(r.inputs, targetInput{target, in})
	return in, nil
}

func (r *run) convert(object runtime.Object, to matching.Target) (runtime.Object, error) {
	if object == nil {
		return nil, nil
	}
	return admission.ConvertToGVK(object, to.Kind, r.objects)
}

func (r *run) add(a application) { r.result.applications = append(r.result.applications, a) }

var denyOnly = []v1.ValidationAction{v1.Deny}

// report adds what an evaluation found to the result, in the name of a binding.
func (r *run) report(p *matchedPolicy, b *policy.Binding, evaluated *evaluation) {
	if evaluated.conditions != nil {
		r.result.Conditions = append(r.result.Conditions, *evaluated.conditions)
	}
	for range evaluated.ignored {
		r.result.Ignored = append(r.result.Ignored, p.Name)
	}
	if len(evaluated.decisions) > 0 {
		r.add(application{p.Name, b.Name(), b.Actions(), evaluated.decisions})
	}
	for _, found := range evaluated.annotations {
		if found.failure == nil {
			p.annotations.add(found.key, found.value)
			continue
		}
		r.add(application{p.Name, b.Name(), denyOnly, []Decision{*found.failure}})
	}
}
