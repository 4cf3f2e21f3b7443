// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/matching"
	"celador.io/admission/policyspec"
)

// A Config holds what webhooks need to know of the API server.
type Config struct {
	// Namespaces looks namespaces up for namespace selectors. If it is nil, requests to which a
	// selector that is not empty applies fail.
	Namespaces matching.NamespaceGetter
	// Authorizer answers for 'authorizer' in match conditions. If it is nil, conditions that read
	// 'authorizer' fail.
	Authorizer authorizer.UnconditionalAuthorizer
}

// A Request is an admission request to match with the webhooks of a set. The webhooks share
// namespace lookups, converted objects, and the values of equal match conditions. Not safe for
// concurrent use.
type Request struct {
	set        *Set
	config     Config
	ctx        context.Context
	attributes admission.Attributes
	// own is the resource and kind of the request.
	own     matching.Target
	objects admission.ObjectInterfaces
	// mutable is set if webhooks change the object. versions then has one element, whose objects
	// are converted from the kind of one webhook to that of the next.
	mutable bool
	// matched is the request with which rules and selectors are compared. It is nil until it is
	// needed, and after a change of the object.
	matched  *matching.Request
	versions []version
	// authorizer and memory are set when a match condition is first evaluated. memory holds the
	// series of evaluations. All webhooks use it, one after the other.
	authorizer *activation.AuthorizerValue
	memory     *activation.Memory
}

// version holds the request with its objects converted to one kind.
type version struct {
	attributes *admission.VersionedAttributes
	// input holds the values that match conditions read. It is nil before the first condition is
	// evaluated, and after a change of the objects.
	input *activation.Input
}

// NewRequest returns the request with the given attributes.
func (s *Set) NewRequest(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, c Config) *Request {
	return &Request{set: s, config: c, ctx: ctx, attributes: a, own: matching.Target{Resource: a.GetResource(), Kind: a.GetKind()}, objects: o}
}

// Free makes the memory of match conditions available to other requests. Call it after the last
// Match, unless evaluations are traced. Applicabilities and versioned attributes stay valid.
func (r *Request) Free() {
	if r.memory != nil {
		r.memory.Clear()
	}
	for i := range r.versions {
		r.versions[i].changed()
	}
}

// VersionedAttributes returns the attributes with the objects converted to a kind, which is that of
// an Applicability's Target. Calls with the same kind return the same attributes.
func (r *Request) VersionedAttributes(kind schema.GroupVersionKind) (*admission.VersionedAttributes, error) {
	v, err := r.version(&kind)
	if err != nil {
		return nil, err
	}
	return v.attributes, nil
}

func (r *Request) version(kind *schema.GroupVersionKind) (*version, error) {
	for i := range r.versions {
		if r.versions[i].attributes.VersionedKind == *kind {
			return &r.versions[i], nil
		}
	}
	v, err := r.convert(*kind)
	if err != nil && r.mutable {
		// kube-apiserver wraps the error twice, so that clients see the prefix of internal errors
		// twice. The callers wrap it once more.
		err = apierrors.NewInternalError(err)
	}
	return v, err
}

func (r *Request) convert(kind schema.GroupVersionKind) (*version, error) {
	if r.mutable && len(r.versions) > 0 {
		v := &r.versions[0]
		v.changed()
		return v, admission.ConvertVersionedAttributes(v.attributes, kind, r.objects)
	}
	attributes, err := admission.NewVersionedAttributes(r.attributes, kind, r.objects)
	if err != nil {
		return nil, err
	}
	r.versions = append(r.versions, version{attributes: attributes})
	return &r.versions[len(r.versions)-1], nil
}

// changed drops the values of the objects, so that the next match condition reads the objects
// again. Until then, the current series still refers to the results of earlier conditions, but
// nothing reads them.
func (v *version) changed() {
	if v.input != nil {
		v.input.Free()
		v.input = nil
	}
}

// matchable returns the request for rules and selectors, with the object as webhooks have changed
// it.
func (r *Request) matchable() *matching.Request {
	if r.matched == nil {
		current := r.attributes
		if r.mutable && len(r.versions) > 0 {
			current = r.versions[0].attributes
		}
		r.matched = matching.NewRequest(r.ctx, current, r.objects, r.config.Namespaces)
	}
	return r.matched
}

// series returns the series that evaluates the match conditions of the next webhook. It ends the
// series of the webhook before, with which it shares the values of equal conditions.
func (r *Request) series(v *version) *expression.Series {
	if r.memory == nil {
		r.authorizer, r.memory = activation.NewAuthorizerValue(r.config.Authorizer), &activation.Memory{}
	}
	if a := v.attributes; v.input == nil {
		target := &r.own
		if a.VersionedKind != r.own.Kind {
			target = &matching.Target{Resource: r.own.Resource, Kind: a.VersionedKind}
		}
		v.input = activation.NewInput(r.attributes, target, a.VersionedObject.Object(), a.VersionedOldObject.Object(), r.authorizer, nil)
	}
	return r.memory.Begin(r.ctx, activation.Subject{Input: v.input}, policyspec.MatchCondition, nil, celconfig.RuntimeCELCostBudgetMatchConditions)
}
