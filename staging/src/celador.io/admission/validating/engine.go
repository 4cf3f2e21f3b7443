// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"
	"fmt"
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/klog/v2"

	"celador.io/admission/matching"
	"celador.io/admission/params"
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
// examined, because its namespace cannot be found.
func (e *Engine) Evaluate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, snapshots ...*Snapshot) (Result, error) {
	run := &run{
		ctx:     ctx,
		request: matching.NewRequest(ctx, a, objects, e.namespaces),
		objects: objects,
		engine:  e,
		why:     klog.FromContext(ctx).V(5),
	}
	run.explain = run.why.Enabled()
	for _, snapshot := range snapshots {
		candidates := run.candidates(snapshot)
		run.fetch(snapshot, candidates)
		for _, c := range candidates {
			if err := run.policy(snapshot.policies[c.Position], c.Certain); err != nil {
				return Result{}, err
			}
		}
	}
	return run.result, nil
}

// run is the evaluation of one request.
type run struct {
	ctx     context.Context
	request *matching.Request
	objects admission.ObjectInterfaces
	engine  *Engine
	// authorizer is what all expressions of the request share. Nil until there is an
	// input, or without any.
	authorizer *cachingAuthorizer
	// inputs are few: one for each version and resource that policies ask for.
	inputs []*input
	// namespace is nil until the first policy is evaluated.
	namespace *namespace
	result    Result
	// planned is what fetch has read, for the compiler not to leave that out.
	planned int
	// why logs the reasons for which a policy or binding does not apply, if explain is
	// set.
	why     klog.Logger
	explain bool
}

// fetch reads a little of each policy. Between two requests the processor forgets most of
// them, and waits for memory again and again where one policy is evaluated after the other.
// Reads that do not depend on each other it waits for together.
func (r *run) fetch(s *Snapshot, candidates []matching.Candidate) {
	for _, c := range candidates {
		p := s.policies[c.Position].policy
		for i := range p.validations {
			if program := p.validations[i].program; program != nil {
				r.planned += program.Planned()
			}
		}
	}
}

// candidates returns the policies to examine. Only when the reasons are to be logged,
// those which obviously do not match are among them.
func (r *run) candidates(s *Snapshot) []matching.Candidate {
	if !r.explain {
		return s.index.Candidates(r.request)
	}
	all := make([]matching.Candidate, len(s.policies))
	for i := range all {
		all[i].Position = i
	}
	return all
}

// bindings returns those of the bindings to examine, in slices one after the other.
func (r *run) bindings(of matching.NamespaceIndex[*binding]) [][]*binding {
	if r.explain {
		return of.All()
	}
	return of.Candidates(r.request)
}

// policy evaluates a policy if the request matches it, which may be certain.
func (r *run) policy(p *boundPolicy, certain bool) error {
	target, matches, err := matching.Target{Resource: r.request.GetResource(), Kind: r.request.GetKind()}, certain, error(nil)
	if !certain {
		target, matches, err = p.criteria.Match(r.request)
	}
	if err == nil && !matches {
		if r.explain {
			r.why.Info("Policy does not match", "policy", p.name, "because", p.criteria.Mismatch(r.request))
		}
		return nil
	}
	if err == nil {
		err = p.misconfiguration()
	}
	matched := &matchedPolicy{boundPolicy: p, target: target}
	if err == nil && p.paramKind != nil {
		matched.lister, err = p.openLister(r.ctx)
	}
	if err != nil {
		r.misconfigured(p.policy, "", fmt.Errorf("failed to configure policy: %w", err))
		return nil
	}
	applied, err := r.apply(matched, p.regular)
	if err == nil && !applied {
		_, err = r.apply(matched, p.fallbacks)
	}
	if err != nil {
		return err
	}
	if applied && r.explain {
		for _, b := range slices.Concat(p.fallbacks.All()...) {
			r.why.Info("Binding does not apply", "policy", p.name, "binding", b.name, "because", "it is a fallback and another binding applies")
		}
	}
	r.result.Annotations = append(r.result.Annotations, matched.annotations.named(p.name)...)
	return nil
}

// apply evaluates the policy through some of its bindings. It says whether any applies
// to the request.
func (r *run) apply(p *matchedPolicy, bindings matching.NamespaceIndex[*binding]) (applied bool, err error) {
	for _, chunk := range r.bindings(bindings) {
		for _, b := range chunk {
			applies, err := r.binding(p, b)
			if err != nil {
				return false, err
			}
			applied = applied || applies
		}
	}
	return applied, nil
}

// matchedPolicy is a policy that matches the request.
type matchedPolicy struct {
	*boundPolicy
	target matching.Target
	// lister is nil without a paramKind.
	lister params.Lister
	// evaluation is the one without a param. The others are by param.
	evaluation  *evaluation
	evaluations map[*unstructured.Unstructured]*evaluation
	annotations annotations
}

func (p *boundPolicy) openLister(ctx context.Context) (params.Lister, error) {
	if p.params != nil {
		if lister, err := p.params.Lister(ctx); err == nil {
			return lister, nil
		}
	}
	return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", p.paramKind.GroupVersionKind)
}

// binding evaluates the policy through one of its bindings, once for each param. It
// says whether the binding applies to the request, which it also does when it is
// misconfigured.
func (r *run) binding(p *matchedPolicy, b *binding) (applies bool, err error) {
	if b.criteria != nil {
		_, matches, err := b.criteria.Match(r.request)
		if err != nil {
			return r.misconfiguredBinding(p, b, err)
		}
		if !matches {
			if r.explain {
				r.why.Info("Binding does not apply", "policy", p.name, "binding", b.name, "because", b.criteria.Mismatch(r.request))
			}
			return false, nil
		}
	}
	found, err := r.params(p, b)
	if err != nil {
		return r.misconfiguredBinding(p, b, err)
	}
	var in *input
	if len(found) > 0 {
		if in, err = r.input(p.target); err != nil {
			return r.misconfiguredBinding(p, b, fmt.Errorf("failed to convert object version: %w", err))
		}
	}
	if r.namespace == nil {
		object, err := r.request.Namespace()
		if err != nil {
			return true, err
		}
		r.namespace = &namespace{object: object}
	}
	if len(found) == 0 {
		r.why.Info("Binding does not apply", "policy", p.name, "binding", b.name, "because", "there are no params")
	}
	for _, param := range found {
		r.report(p, b, r.evaluation(p, in, param))
	}
	return len(found) > 0, nil
}

// withoutParams evaluates a policy once, with 'params' being null if it is declared.
var withoutParams = []*unstructured.Unstructured{nil}

func (r *run) params(p *matchedPolicy, b *binding) ([]*unstructured.Unstructured, error) {
	if p.lister == nil || b.params == nil {
		return withoutParams, nil
	}
	return b.params.Find(r.ctx, p.lister, p.paramKind.ParamKind, r.request.GetNamespace())
}

// evaluation evaluates the policy, unless another binding led to the same: expressions
// do not see the binding, and many do not see the param.
func (r *run) evaluation(p *matchedPolicy, in *input, param *unstructured.Unstructured) *evaluation {
	if !p.readsParams || param == nil {
		if p.evaluation == nil {
			p.evaluation = p.evaluate(r.ctx, subject{in, r.namespace, types.NullValue})
		}
		return p.evaluation
	}
	evaluated, ok := p.evaluations[param]
	if !ok {
		evaluated = p.evaluate(r.ctx, subject{in, r.namespace, paramsValue(param)})
		if p.evaluations == nil {
			p.evaluations = map[*unstructured.Unstructured]*evaluation{}
		}
		p.evaluations[param] = evaluated
	}
	return evaluated
}

func (r *run) input(target matching.Target) (*input, error) {
	for _, in := range r.inputs {
		if in.target == target {
			return in, nil
		}
	}
	if r.authorizer == nil && r.engine.authorizer != nil {
		r.authorizer = &cachingAuthorizer{authorizer: r.engine.authorizer}
	}
	in, err := newInput(r.request, target, r.objects, r.authorizer)
	if err == nil {
		r.inputs = append(r.inputs, in)
	}
	return in, err
}

func (r *run) misconfiguredBinding(p *matchedPolicy, b *binding, err error) (bool, error) {
	r.misconfigured(p.policy, b.name, fmt.Errorf("failed to configure binding: %w", err))
	return true, nil
}

func (r *run) misconfigured(p *policy, binding string, err error) {
	decision := Decision{Outcome: Misconfigured, Ignored: p.failurePolicy == v1.Ignore, Message: err.Error()}
	r.add(application{p.name, binding, denyOnly, []Decision{decision}})
}

func (r *run) add(a application) { r.result.applications = append(r.result.applications, a) }

var denyOnly = []v1.ValidationAction{v1.Deny}

// report adds what an evaluation found to the result, in the name of a binding.
func (r *run) report(p *matchedPolicy, b *binding, evaluated *evaluation) {
	if evaluated.conditions != nil {
		r.result.Conditions = append(r.result.Conditions, *evaluated.conditions)
	}
	for range evaluated.ignored {
		r.result.Ignored = append(r.result.Ignored, p.name)
	}
	if len(evaluated.decisions) > 0 {
		r.add(application{p.name, b.name, b.actions, evaluated.decisions})
	}
	for _, found := range evaluated.annotations {
		if found.failure == nil {
			p.annotations.add(found.key, found.value)
			continue
		}
		r.add(application{p.name, b.name, denyOnly, []Decision{*found.failure}})
	}
}
