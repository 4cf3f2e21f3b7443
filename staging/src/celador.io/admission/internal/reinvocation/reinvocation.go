// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reinvocation decides which webhooks and mutations are invoked again when mutating
// admission runs for the second time: those with reinvocationPolicy IfNeeded after which the object
// changed.
package reinvocation

import (
	"maps"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
)

// Tracker records which webhooks or mutations an admission plugin must call again in the second run
// of admission. K identifies one of them, which the methods call a member. Not safe for concurrent
// use.
type Tracker[K comparable] struct {
	// candidates holds the webhooks or mutations with reinvocationPolicy IfNeeded that were invoked
	// since the object last changed. When it changes again, they become due: the second run of
	// admission must call them again.
	candidates sets.Set[K]
	// due holds the members that were invoked before the object changed.
	due sets.Set[K]
	// output is the object at the end of the last run. Nil if there are no candidates.
	output runtime.Object
}

// Of returns the state of a plugin in the reinvocation context of the request.
func Of[K comparable](a admission.Attributes, plugin string) *Tracker[K] {
	shared := a.GetReinvocationContext()
	if known, ok := shared.Value(plugin).(*Tracker[K]); ok {
		return known
	}
	s := &Tracker[K]{candidates: sets.New[K](), due: sets.New[K]()}
	shared.SetValue(plugin, s)
	return s
}

// Resume begins the second run. If other plugins changed the object since the end of the first run
// (Suspend), all candidates become due.
func (s *Tracker[K]) Resume(object runtime.Object) {
	if len(s.candidates) > 0 && !apiequality.Semantic.DeepEqual(s.output, object) {
		s.Changed()
	}
}

// Due reports whether a member is invoked again.
func (s *Tracker[K]) Due(member K) bool { return s.due.Has(member) }

// Asked reports whether a member, a webhook or mutation, asked for reinvocation: it was invoked,
// and has reinvocationPolicy IfNeeded (Add). Unlike Due, Asked does not depend on changes of the
// object.
func (s *Tracker[K]) Asked(member K) bool { return s.due.Has(member) || s.candidates.Has(member) }

// Changed records that the object has changed, which makes all candidates due.
func (s *Tracker[K]) Changed() {
	maps.Copy(s.due, s.candidates)
	clear(s.candidates)
}

// Add records that a member, a webhook or mutation, with reinvocationPolicy IfNeeded was invoked.
// It becomes due if the object changes afterwards.
func (s *Tracker[K]) Add(member K) { s.candidates.Insert(member) }

// Suspend ends a run. It copies the object, so that Resume can find changes.
func (s *Tracker[K]) Suspend(object runtime.Object) {
	s.output = nil
	if len(s.candidates) > 0 && object != nil {
		s.output = object.DeepCopyObject()
	}
}
