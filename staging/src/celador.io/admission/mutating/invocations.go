// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
	"celador.io/admission/policy"
)

var _ policy.Visitor[body] = &run{}

// invocation is a policy to apply, through a binding and with a param, which may be nil.
type invocation struct {
	*policy.Policy[body]
	binding *policy.Binding
	target  matching.Target
	param   *unstructured.Unstructured
}

// key names a mutation of an invocation, in both runs of admission.
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

// Fetch implements policy.Visitor.
func (r *run) Fetch(*policy.Policy[body], policy.Pass) bool { return false }

// Enter implements policy.Visitor.
func (r *run) Enter(p *policy.Policy[body], target matching.Target) {
	r.current, r.target = p, target
}

// kindError is why the object cannot be had in a kind, nil if it can.
type kindError struct {
	schema.GroupVersionKind
	err error
}

// Reach implements policy.Visitor.
func (r *run) Reach(b *policy.Binding) bool {
	err := r.convertible(r.target.Kind)
	if err != nil {
		r.Misconfigured(r.current, nil, fmt.Errorf("failed to configure policy: %w", err))
	}
	return err == nil
}

// convertible tries to convert the request to a kind, the first time that a policy wants it.
func (r *run) convertible(kind schema.GroupVersionKind) error {
	for _, k := range r.kinds {
		if k.GroupVersionKind == kind {
			return k.err
		}
	}
	converted, err := admission.NewVersionedAttributes(r.request.Attributes, kind, r.objects)
	if err == nil && r.versioned == nil {
		r.versioned = converted
	}
	r.kinds = append(r.kinds, kindError{kind, err})
	return err
}

// Apply implements policy.Visitor. Nothing is changed before it is known what applies.
func (r *run) Apply(b *policy.Binding, params []*unstructured.Unstructured) error {
	for _, param := range params {
		r.invocations = append(r.invocations, invocation{r.current, b, r.target, param})
	}
	return nil
}

// Leave implements policy.Visitor.
func (r *run) Leave() {}

// Misconfigured implements policy.Visitor.
func (r *run) Misconfigured(p *policy.Policy[body], b *policy.Binding, err error) {
	r.fail(p, b, err.Error(), "")
}
