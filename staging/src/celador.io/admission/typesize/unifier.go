// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"github.com/google/cel-go/common/types"
)

// unifier makes shapes one where the checker requires types to be assignable.
type unifier struct {
	// joined has the results of join.
	joined map[[2]*shape]*shape
	// searches is the number of calls of occurs.
	searches int
	// steps is how much work was done. Nothing more is done beyond maxSteps.
	steps int
}

// spent counts a step and reports whether there were too many.
func (u *unifier) spent() bool {
	u.steps++
	return u.steps > maxSteps
}

// join returns a shape that is no smaller than that of the type that two types have in common.
// It binds type parameters.
func (u *unifier) join(a, b *shape) *shape {
	a, b = a.resolve(), b.resolve()
	switch {
	case a == b || u.spent():
		return a
	case a.is(types.TypeParamKind):
		return u.bind(a, b)
	case b.is(types.TypeParamKind):
		return u.bind(b, a)
	case len(b.parameters) == 0:
		return a
	case len(a.parameters) == 0:
		return b
	case a.kind != b.kind || len(a.parameters) != len(b.parameters):
		return a // is an error
	}
	pair := [2]*shape{a, b}
	if known, ok := u.joined[pair]; ok {
		return known
	}
	parameters, sameA, sameB := make([]*shape, len(a.parameters)), true, true
	for i := range parameters {
		parameters[i] = u.join(a.parameters[i], b.parameters[i])
		sameA = sameA && parameters[i] == a.parameters[i].resolve()
		sameB = sameB && parameters[i] == b.parameters[i].resolve()
	}
	result := &shape{kind: a.kind, name: a.name, parameters: parameters}
	if sameA {
		result = a
	} else if sameB {
		result = b
	}
	u.joined[pair] = result
	return result
}

// bind has a type parameter stand for a shape, unless the shape is made of the parameter.
func (u *unifier) bind(parameter, to *shape) *shape {
	u.searches++
	if !u.occurs(parameter, to) {
		parameter.bound = to
	}
	return to
}

func (u *unifier) occurs(parameter, in *shape) bool {
	in = in.resolve()
	if in == parameter {
		return true
	}
	if len(in.parameters) == 0 || in.seen == u.searches || u.spent() {
		return false
	}
	in.seen = u.searches
	for _, s := range in.parameters {
		if u.occurs(parameter, s) {
			return true
		}
	}
	return false
}
