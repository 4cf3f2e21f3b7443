// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"github.com/google/cel-go/common/types"
)

// A unifier joins shapes where the checker requires one type to be assignable to another.
type unifier struct {
	// joined caches the results of join.
	joined map[[2]*shape]*shape
	// searches is the number of calls of occurs.
	searches int
	// steps is the work done so far. join and occurs stop beyond maxSteps.
	steps int
}

// exhausted counts a step. It reports whether the number of steps exceeds maxSteps.
func (u *unifier) exhausted() bool {
	u.steps++
	return u.steps > maxSteps
}

// join returns a shape that is at least as large as the common type of a and b. It binds type
// parameters in them, such as the element type of the literal [].
func (u *unifier) join(a, b *shape) *shape {
	a, b = a.resolve(), b.resolve()
	switch {
	case a == b || u.exhausted():
		return a
	case a.kind == types.TypeParamKind:
		return u.bind(a, b)
	case b.kind == types.TypeParamKind:
		return u.bind(b, a)
	case len(b.parameters) == 0:
		return a
	case len(a.parameters) == 0:
		return b
	case a.kind != b.kind || len(a.parameters) != len(b.parameters):
		return a // a type error, which the checker reports
	}
	pair := [2]*shape{a, b}
	if joined, ok := u.joined[pair]; ok {
		return joined
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

// bind binds a type parameter to a shape, unless the shape contains the parameter.
func (u *unifier) bind(parameter, to *shape) *shape {
	u.searches++
	if !u.occurs(parameter, to) {
		parameter.bound = to
	}
	return to
}

// occurs reports whether a shape contains the type parameter.
func (u *unifier) occurs(parameter, in *shape) bool {
	in = in.resolve()
	if in == parameter {
		return true
	}
	if len(in.parameters) == 0 || in.searched == u.searches || u.exhausted() {
		return false
	}
	in.searched = u.searches
	for _, s := range in.parameters {
		if u.occurs(parameter, s) {
			return true
		}
	}
	return false
}
