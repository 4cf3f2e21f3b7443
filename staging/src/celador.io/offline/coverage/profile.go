// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"celador.io/offline/manifest"
)

// An Expression is an expression of an object with its branches.
type Expression struct {
	// Kind and Name are those of the object: a policy, a webhook configuration or a
	// CustomResourceDefinition.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Field is the path of the expression in the object, such as spec.validations[0].expression.
	Field string `json:"field"`
	// Position is the place of the expression.
	Position manifest.Position `json:"position"`
	// Text is the expression, in one line.
	Text string `json:"text"`
	// Branches are the branches in the order of the expression. JSON reports have them in results.
	Branches []Branch `json:"-"`
}

// Summary counts the branches of the expression.
func (e *Expression) Summary() Summary {
	s := Summary{Branches: len(e.Branches)}
	for _, b := range e.Branches {
		if b.Covered {
			s.Covered++
		}
	}
	return s
}

// A Summary has numbers of branches.
type Summary struct {
	Covered  int `json:"covered"`
	Branches int `json:"branches"`
}

// Summarize counts the branches of expressions.
func Summarize(expressions []Expression) Summary {
	var s Summary
	for i := range expressions {
		e := expressions[i].Summary()
		s.Covered, s.Branches = s.Covered+e.Covered, s.Branches+e.Branches
	}
	return s
}

// Percent returns the covered share of the branches, rounded down, so that 100 means all of them.
// It is 100 if there are none.
func (s Summary) Percent() int {
	if s.Branches == 0 {
		return 100
	}
	return s.Covered * 100 / s.Branches
}

// A Profile collects the coverage of expressions. Two expressions are the same if their fields
// other than Branches are equal. The zero value is ready for use. A Profile is safe for concurrent
// use.
type Profile struct {
	lock        sync.Mutex
	expressions map[identity]*Expression
}

type identity struct {
	kind, name, field, text string
	position                manifest.Position
}

// Add adds an expression. If the profile has the same expression already, Add sets Covered of its
// branches that are covered in the added one. It leaves out expressions without branches.
func (p *Profile) Add(e Expression) {
	if len(e.Branches) == 0 {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	key := identity{e.Kind, e.Name, e.Field, e.Text, e.Position}
	known := p.expressions[key]
	if known == nil {
		if p.expressions == nil {
			p.expressions = map[identity]*Expression{}
		}
		e.Branches = slices.Clone(e.Branches)
		p.expressions[key] = &e
		return
	}
	merge(known.Branches, e.Branches)
}

// Expressions returns the expressions with their branches in the order of kind, name and place. The
// caller owns the result.
func (p *Profile) Expressions() []Expression {
	p.lock.Lock()
	defer p.lock.Unlock()
	var sorted []Expression
	for _, e := range p.expressions {
		copied := *e
		copied.Branches = slices.Clone(e.Branches)
		sorted = append(sorted, copied)
	}
	slices.SortFunc(sorted, func(a, b Expression) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Position.File, b.Position.File),
			cmp.Compare(a.Position.Line, b.Position.Line), strings.Compare(a.Field, b.Field))
	})
	return sorted
}
