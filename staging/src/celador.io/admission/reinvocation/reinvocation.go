// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reinvocation decides what is asked again when mutating admission runs a second
// time: what agreed to that, and after which others changed the object.
package reinvocation

import (
	"maps"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
)

// State is what an admission plugin knows of the first run in the second one. Members are
// what it asks: webhooks, or mutations of policies. Not safe for concurrent use.
type State[K comparable] struct {
	// candidates are the members whose last run is the last change of the object so far.
	candidates sets.Set[K]
	// due are those after which the object was changed.
	due sets.Set[K]
	// output is the object as it was after all members. Nil without candidates.
	output runtime.Object
}

// Of returns the state that a plugin keeps for the request.
func Of[K comparable](a admission.Attributes, plugin string) *State[K] {
	shared := a.GetReinvocationContext()
	if known, ok := shared.Value(plugin).(*State[K]); ok {
		return known
	}
	s := &State[K]{candidates: sets.New[K](), due: sets.New[K]()}
	shared.SetValue(plugin, s)
	return s
}

// Resume takes into account what other plugins did since the last run. It is to be called
// with the object at the start of the second one.
func (s *State[K]) Resume(object runtime.Object) {
	if len(s.candidates) > 0 && !apiequality.Semantic.DeepEqual(s.output, object) {
		s.Changed()
	}
}

// Due says whether a member that agreed to it is to be asked again.
func (s *State[K]) Due(member K) bool { return s.due.Has(member) }

// Asked says whether a member that agreed to it was asked before.
func (s *State[K]) Asked(member K) bool { return s.due.Has(member) || s.candidates.Has(member) }

// Changed takes into account that the object was changed.
func (s *State[K]) Changed() {
	maps.Copy(s.due, s.candidates)
	clear(s.candidates)
}

// Add makes a member, which has just been asked, a candidate for being asked again.
func (s *State[K]) Add(member K) { s.candidates.Insert(member) }

// Suspend remembers the object at the end of a run.
func (s *State[K]) Suspend(object runtime.Object) {
	s.output = nil
	if len(s.candidates) > 0 && object != nil {
		s.output = object.DeepCopyObject()
	}
}
