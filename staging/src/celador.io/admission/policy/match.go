// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"iter"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"celador.io/admission/internal/activation"
	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// Matches finds the policies of snapshots that match one request, and the bindings and params with
// which they apply. Not safe for concurrent use.
//
// Iteration stops when the request is interrupted: its context is done. An interruption also fails
// lookups and expressions, so callers must check matching.Request.Interrupted after the iteration.
type Matches[Body any] struct {
	ctx     context.Context
	request *matching.Request
	// log explains at V(5) why a policy or binding does not apply. explains is set if it is
	// enabled.
	log      klog.Logger
	explains bool
	// constraints remembers the match constraints of the last policy, and bindings the match
	// resources of the last binding, each with its result for the request.
	constraints, bindings matching.Memo
	// own is the resource and kind of the request. It is the target of most policies. others holds
	// the targets of policies whose rules name an equivalent resource.
	own    matching.Target
	others []*matching.Target
	// lookupStates is nil until a policy with lookups matches.
	lookupStates *activation.LookupStates
	// match is the current Match. It is reused, because thousands of policies may match.
	match Match[Body]
}

// Init prepares m, which must be the zero value, for a request.
func (m *Matches[Body]) Init(ctx context.Context, request *matching.Request) {
	m.ctx, m.request = ctx, request
	m.log = klog.FromContext(ctx).V(5)
	m.explains = m.log.Enabled()
	m.own = matching.Target{Resource: request.GetResource(), Kind: request.GetKind()}
}

// NoneMatch reports whether it is certain that no policy of the snapshots matches the request. Most
// requests match none, and this check costs less than to prepare Matches. NoneMatch returns false
// if V(5) is enabled, because only Matches logs why policies do not match.
func NoneMatch[Body any](ctx context.Context, request *matching.Request, snapshots []*Snapshot[Body]) bool {
	for _, s := range snapshots {
		if len(s.index.Candidates(request)) > 0 {
			return false
		}
	}
	return !klog.FromContext(ctx).V(5).Enabled()
}

// Match is a policy that matches a request.
type Match[Body any] struct {
	*Policy[Body]
	// Target is the resource and kind in which the policy reads the object. Equal targets of a
	// request have the same address, so that callers can compare addresses.
	Target *matching.Target
	// Err is the error with which the policy fails for all bindings, or nil. If it is set, Bindings
	// must not be called.
	Err error

	iteration *Matches[Body]
	bound     *boundPolicy[Body]
	// lister is nil if the policy has no paramKind.
	lister params.Lister
	// binding is the current BindingMatch, which is reused.
	binding BindingMatch[Body]
}

// BindingMatch is a binding through which a policy applies to a request.
type BindingMatch[Body any] struct {
	*Binding
	// Err is the error with which the policy fails for the binding, or nil.
	Err error

	match *Match[Body]
	// lacksParams is set if Params returned no element, so that the binding does not apply.
	lacksParams bool
}

// In ranges over the policies of the snapshot that match the request, in the order of names. A
// Match is valid until the next iteration.
func (m *Matches[Body]) In(s *Snapshot[Body]) iter.Seq[*Match[Body]] {
	return func(yield func(*Match[Body]) bool) {
		candidates := m.candidates(s)
		for i, c := range candidates {
			if i%prefetched == 0 {
				s.prefetch(candidates[i:min(i+prefetched, len(candidates))])
			}
			if m.request.Interrupted() != nil {
				return
			}
			if m.matches(s.policies[c.Position], c.Certain) && !yield(&m.match) {
				return
			}
		}
	}
}

// candidates returns the policies that may match. It returns all policies if explains is set, so
// that matches logs why the others do not match.
func (m *Matches[Body]) candidates(s *Snapshot[Body]) []matching.Candidate {
	if !m.explains {
		return s.index.Candidates(m.request)
	}
	all := make([]matching.Candidate, len(s.policies))
	for i := range all {
		all[i].Position = i
	}
	return all
}

// matches reports whether the request matches the policy, and sets the current Match if it does.
// certain is set if the index knows that the policy matches.
func (m *Matches[Body]) matches(p *boundPolicy[Body], certain bool) bool {
	target, matches, err := &m.own, true, error(nil)
	if !certain {
		var found matching.Target
		if found, matches, err = m.constraints.Match(p.criteria, m.request); matches {
			target = m.target(found)
		}
	}
	if err == nil && !matches {
		if m.explains {
			m.log.Info("Policy does not match", "policy", p.Name, "because", p.criteria.Mismatch(m.request))
		}
		return false
	}
	if err == nil {
		err = p.misconfiguration()
	}
	var lister params.Lister
	if err == nil && p.ParamKind != nil {
		lister, err = p.openLister(m.ctx)
	}
	if err != nil {
		err = fmt.Errorf("failed to configure policy: %w", err)
	}
	// One by one, because an assignment of the whole match would copy it.
	match := &m.match
	match.Policy, match.Target, match.Err = p.Policy, target, err
	match.iteration, match.bound, match.lister = m, p, lister
	return true
}

// target returns a pointer to the target that is the same for equal targets of the request.
func (m *Matches[Body]) target(of matching.Target) *matching.Target {
	if of == m.own {
		return &m.own
	}
	for _, known := range m.others {
		if *known == of {
			return known
		}
	}
	m.others = append(m.others, &of)
	return &of
}

// Lookups returns the value of 'lookups' for the policy, or nil if it has no lookups. The value
// remains valid for the request, and all policies of the request see the same objects.
func (m *Match[Body]) Lookups() *activation.Lookups {
	if len(m.lookups) == 0 {
		return nil
	}
	matches := m.iteration
	if matches.lookupStates == nil {
		matches.lookupStates = activation.NewLookupStates()
	}
	return &activation.Lookups{
		Context: matches.ctx, Namespace: matches.request.GetNamespace(), States: matches.lookupStates,
		Definitions: m.lookups, Handles: m.bound.handles,
	}
}

// Bindings is an iterator over the bindings through which the policy applies to the request.
// Fallback bindings follow only if no other binding applied. A BindingMatch is valid until the next
// iteration.
func (m *Match[Body]) Bindings(yield func(*BindingMatch[Body]) bool) {
	if m.bound.only != nil {
		m.try(m.bound.only, yield)
		return
	}
	applied, more := m.bindings(m.bound.regular, yield)
	if !more {
		return
	}
	if !applied {
		m.bindings(m.bound.fallbacks, yield)
		return
	}
	if m.iteration.explains {
		for _, b := range slices.Concat(m.bound.fallbacks.All()...) {
			m.log(b, "it is a fallback and another binding applies")
		}
	}
}

// bindings calls yield for each of the given bindings that matches the request. applied reports
// whether one of them applied. more is false if yield or an interruption of the request ended the
// iteration.
func (m *Match[Body]) bindings(of matching.NamespaceIndex[*Binding], yield func(*BindingMatch[Body]) bool) (applied, more bool) {
	request := m.iteration.request
	candidates := of.All
	if !m.iteration.explains {
		candidates = func() [][]*Binding { return of.Candidates(request) }
	}
	for _, chunk := range candidates() {
		for _, b := range chunk {
			applies, more := m.try(b, yield)
			applied = applied || applies
			if !more {
				return applied, false
			}
		}
	}
	return applied, true
}

// try calls yield for a binding if it matches the request. It returns the same results as bindings.
func (m *Match[Body]) try(b *Binding, yield func(*BindingMatch[Body]) bool) (applied, more bool) {
	request := m.iteration.request
	if request.Interrupted() != nil {
		return false, false
	}
	m.binding = BindingMatch[Body]{Binding: b, match: m}
	if b.criteria != nil {
		_, matches, err := m.iteration.bindings.Match(b.criteria, request)
		switch {
		case err != nil:
			m.binding.Err = misconfigured(err)
		case !matches:
			if m.iteration.explains {
				m.log(b, b.criteria.Mismatch(request))
			}
			return false, true
		}
	}
	more = yield(&m.binding)
	return !m.binding.lacksParams, more
}

func (m *Match[Body]) log(b *Binding, reason any) {
	m.iteration.log.Info("Binding does not apply", "policy", m.Name, "binding", b.name, "because", reason)
}

func misconfigured(err error) error { return fmt.Errorf("failed to configure binding: %w", err) }

// withoutParams has one nil element, so that a policy without params is evaluated once. Expressions
// that read 'params' read null.
var withoutParams = []*unstructured.Unstructured{nil}

// Params returns the param objects for each of which the policy is evaluated. It returns a single
// nil if the policy has no paramKind or the binding has no paramRef. It returns no element if
// paramRef selects no object; the binding then does not apply. The objects are shared and must not
// be changed. If Params returns an error, the policy fails for the binding.
func (b *BindingMatch[Body]) Params() ([]*unstructured.Unstructured, error) {
	m := b.match
	if m.lister == nil || b.params == nil {
		return withoutParams, nil
	}
	found, err := b.params.Find(m.iteration.ctx, m.lister, m.ParamKind.ParamKind, m.iteration.request.GetNamespace())
	if err != nil {
		return nil, misconfigured(err)
	}
	if len(found) == 0 {
		b.lacksParams = true
		m.log(b.Binding, "there are no params")
	}
	return found, nil
}

func (p *boundPolicy[Body]) openLister(ctx context.Context) (params.Lister, error) {
	if p.params != nil {
		lister, err := p.params.Lister(ctx)
		if err == nil {
			return lister, nil
		}
		// Kubernetes has no error for this: its requests wait until they time out.
		if apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("params of paramKind '%v' cannot be read: %w", p.ParamKind.GroupVersionKind, err)
		}
	}
	return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", p.ParamKind.GroupVersionKind)
}
