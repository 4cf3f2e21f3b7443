// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/internal/activation"
	"celador.io/admission/matching"
	"celador.io/admission/policy"
)

// invocation is the application of a policy through a binding and with a param, which may be nil.
type invocation struct {
	*policy.Policy[Body]
	*policy.CompiledSpec[Body]
	binding *policy.Binding
	target  *matching.Target
	param   *unstructured.Unstructured
	// lookups is nil if the policy has none.
	lookups *activation.Lookups

	// evaluated is set if a mutation was due or a match condition failed.
	evaluated bool
	// outcome is the worst outcome so far, also of the rounds of settle.
	outcome policy.Outcome
}

// addOutcome records the outcome of a mutation or match condition of the policy. The worst one
// counts.
func (i *invocation) addOutcome(o policy.Outcome) { i.evaluated, i.outcome = true, max(i.outcome, o) }

// key identifies a mutation of an invocation, so that a reinvocation finds what was invoked before.
type key struct {
	policy, binding string
	param           struct{ namespace, name string }
	index           int
}

func (i *invocation) key(index int) key {
	k := key{policy: i.Name, binding: i.binding.Name(), index: index}
	if i.param != nil {
		k.param.namespace, k.param.name = i.param.GetNamespace(), i.param.GetName()
	}
	return k
}

// collect adds the invocations of the policies of a snapshot that match the request. All
// invocations are collected before the first policy is applied, so mutations do not affect which
// policies match.
func (r *applier) collect(snapshot *Snapshot) {
	for match := range r.matches.In(snapshot) {
		if match.Err != nil {
			r.misconfigured(match.Policy, "", match.Err.Error())
			continue
		}
		for b := range match.Bindings {
			r.collectBinding(match, b)
		}
	}
}

func (r *applier) collectBinding(match *policy.Match[Body], b *policy.BindingMatch[Body]) {
	if b.Err != nil {
		r.misconfigured(match.Policy, b.Name(), b.Err.Error())
		return
	}
	// Kubernetes converts the object before it looks up params.
	if err := r.convertible(match.Target.Kind); err != nil {
		r.misconfigured(match.Policy, "", fmt.Sprintf("failed to configure policy: %v", err))
		return
	}
	params, err := b.Params()
	if err != nil {
		r.misconfigured(match.Policy, b.Name(), err.Error())
		return
	}
	lookups := match.Lookups()
	for _, param := range params {
		r.invocations = append(r.invocations, invocation{
			Policy: match.Policy, CompiledSpec: match.Compiled(), binding: b.Binding, target: match.Target, param: param, lookups: lookups,
		})
	}
}

// convertible returns an error if the request's object cannot be converted to a kind. The
// conversion runs once for each kind, and the first result becomes r.versioned.
func (r *applier) convertible(kind schema.GroupVersionKind) error {
	v := r.valuesOf(kind)
	if v.tried {
		return v.err
	}
	converted, err := admission.NewVersionedAttributes(r.request.Attributes, kind, r.objects)
	if err == nil && r.versioned == nil {
		r.versioned = converted
	}
	v.tried, v.err = true, err
	return err
}
