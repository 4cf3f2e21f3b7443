// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"

	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// Visitor is told what applies to a request: each policy that matches, in order, and in
// between those calls the bindings through which it applies.
type Visitor[B any] interface {
	// Fetch is called with all policies that may match, as often as it asks for it, before the
	// first of them is examined.
	Fetch(*Policy[B], Pass) (more bool)
	// Enter is called for a policy that matches, with the form in which it wants to see the
	// object.
	Enter(*Policy[B], matching.Target)
	// Reach is called for each binding that matches. If it returns false, the policy does not
	// apply through it.
	Reach(*Binding) bool
	// Apply is called once for each matching binding. The params are the parameter objects that
	// paramRef selects: none if none was found, and a single nil if the policy has no
	// paramKind. An error ends the walk. Implementations check between params whether the
	// request is interrupted.
	Apply(*Binding, []*unstructured.Unstructured) error
	// Leave is called after the last binding of a policy.
	Leave()
	// Misconfigured is called for a policy that cannot be applied at all, and in between Enter
	// and Leave for a binding through which it cannot; the binding is nil in the first case.
	Misconfigured(*Policy[B], *Binding, error)
}

// Walk shows a visitor all that applies to one request. Not safe for concurrent use.
type Walk[B any] struct {
	ctx     context.Context
	request *matching.Request
	visitor Visitor[B]
	// why logs the reasons for which a policy or binding does not apply, if explain is set.
	why     klog.Logger
	explain bool
}

// NewWalk returns a walk, not as a pointer, so that it can be part of the visitor.
func NewWalk[B any](ctx context.Context, request *matching.Request, visitor Visitor[B]) Walk[B] {
	why := klog.FromContext(ctx).V(5)
	return Walk[B]{ctx, request, visitor, why, why.Enabled()}
}

// Through walks the policies of a snapshot that match the request. It returns errors of the
// visitor, and an error if the request is interrupted. An interruption also makes lookups and
// expressions fail, which the visitor cannot tell from other failures, so callers must check
// the request again afterwards.
func (w *Walk[B]) Through(s *Snapshot[B]) error {
	candidates := w.candidates(s)
	w.fetch(s, candidates)
	for _, c := range candidates {
		if interrupted := w.request.Interrupted(); interrupted != nil {
			return interrupted
		}
		if err := w.policy(s.policies[c.Position], c.Certain); err != nil {
			return err
		}
	}
	return nil
}

// fetch reads a little of each policy. Between two requests the processor forgets most of
// them, and waits for memory again and again where one is examined after the other. Reads
// that do not depend on each other it waits for together, so what one read leads to is only
// read when that is done for all.
func (w *Walk[B]) fetch(s *Snapshot[B], candidates []matching.Candidate) {
	for pass, more := Pass(0), true; more; pass++ {
		more = false
		for _, c := range candidates {
			more = w.visitor.Fetch(s.policies[c.Position].Policy, pass) || more
		}
	}
}

// Pass numbers the calls of Fetch for one policy from 0.
type Pass int

// candidates returns the policies to examine. Only when the reasons are to be logged,
// those which obviously do not match are among them.
func (w *Walk[B]) candidates(s *Snapshot[B]) []matching.Candidate {
	if !w.explain {
		return s.index.Candidates(w.request)
	}
	all := make([]matching.Candidate, len(s.policies))
	for i := range all {
		all[i].Position = i
	}
	return all
}

// bindings returns those of the bindings to examine, in slices one after the other.
func (w *Walk[B]) bindings(of matching.NamespaceIndex[*Binding]) [][]*Binding {
	if w.explain {
		return of.All()
	}
	return of.Candidates(w.request)
}

// policy shows a policy if the request matches it, which may be certain.
func (w *Walk[B]) policy(p *boundPolicy[B], certain bool) error {
	target, matches, err := matching.Target{Resource: w.request.GetResource(), Kind: w.request.GetKind()}, certain, error(nil)
	if !certain {
		target, matches, err = p.criteria.Match(w.request)
	}
	if err == nil && !matches {
		if w.explain {
			w.why.Info("Policy does not match", "policy", p.Name, "because", p.criteria.Mismatch(w.request))
		}
		return nil
	}
	if err == nil {
		err = p.misconfiguration()
	}
	var lister params.Lister
	if err == nil && p.ParamKind != nil {
		lister, err = p.openLister(w.ctx)
	}
	if err != nil {
		w.visitor.Misconfigured(p.Policy, nil, fmt.Errorf("failed to configure policy: %w", err))
		return nil
	}
	w.visitor.Enter(p.Policy, target)
	applied, err := w.apply(p, p.regular, lister)
	if err == nil && !applied {
		_, err = w.apply(p, p.fallbacks, lister)
	}
	if err != nil {
		return err
	}
	if applied && w.explain {
		for _, b := range slices.Concat(p.fallbacks.All()...) {
			w.why.Info("Binding does not apply", "policy", p.Name, "binding", b.name, "because", "it is a fallback and another binding applies")
		}
	}
	w.visitor.Leave()
	return nil
}

// apply shows some of the bindings of a policy. It says whether any applies to the
// request. The lister is nil without a paramKind.
func (w *Walk[B]) apply(p *boundPolicy[B], bindings matching.NamespaceIndex[*Binding], lister params.Lister) (applied bool, err error) {
	for _, chunk := range w.bindings(bindings) {
		for _, b := range chunk {
			if interrupted := w.request.Interrupted(); interrupted != nil {
				return false, interrupted
			}
			applies, err := w.binding(p, b, lister)
			if err != nil {
				return false, err
			}
			applied = applied || applies
		}
	}
	return applied, nil
}

// binding shows a binding with its params. It says whether the binding applies to the
// request, which it also does when it is misconfigured.
func (w *Walk[B]) binding(p *boundPolicy[B], b *Binding, lister params.Lister) (applies bool, err error) {
	if b.criteria != nil {
		_, matches, err := b.criteria.Match(w.request)
		if err != nil {
			return w.misconfigured(p, b, err)
		}
		if !matches {
			if w.explain {
				w.why.Info("Binding does not apply", "policy", p.Name, "binding", b.name, "because", b.criteria.Mismatch(w.request))
			}
			return false, nil
		}
	}
	if !w.visitor.Reach(b) {
		return true, nil
	}
	found, err := w.params(p, b, lister)
	if err != nil {
		return w.misconfigured(p, b, err)
	}
	if len(found) == 0 {
		w.why.Info("Binding does not apply", "policy", p.Name, "binding", b.name, "because", "there are no params")
	}
	return len(found) > 0, w.visitor.Apply(b, found)
}

func (w *Walk[B]) misconfigured(p *boundPolicy[B], b *Binding, err error) (applies bool, _ error) {
	w.visitor.Misconfigured(p.Policy, b, fmt.Errorf("failed to configure binding: %w", err))
	return true, nil
}

// withoutParams has a policy evaluated once, with 'params' being null if it is declared.
var withoutParams = []*unstructured.Unstructured{nil}

func (w *Walk[B]) params(p *boundPolicy[B], b *Binding, lister params.Lister) ([]*unstructured.Unstructured, error) {
	if lister == nil || b.params == nil {
		return withoutParams, nil
	}
	return b.params.Find(w.ctx, lister, p.ParamKind.ParamKind, w.request.GetNamespace())
}

func (p *boundPolicy[B]) openLister(ctx context.Context) (params.Lister, error) {
	if p.params != nil {
		if lister, err := p.params.Lister(ctx); err == nil {
			return lister, nil
		}
	}
	return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", p.ParamKind.GroupVersionKind)
}
