// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"math"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/internal/fingerprint"
	"celador.io/admission/cel/internal/immutable"
	"celador.io/admission/cel/internal/programs"
)

// Results holds values of programs for one request. Policies and webhooks often contain equal
// expressions, which share one program: the request evaluates it a few times at most, and each
// policy is charged its cost. That saves a third of the time of 100 policies for Deployments, and
// half of it with the expressions that clusters have. Only values that no evaluation can change are
// shared (immutable.Keep); programs with other values are evaluated for each policy. The zero value
// is ready for use. Results are not safe for concurrent use.
type Results struct {
	// entries holds the latest values of recurring programs. The remainder of a program's number is
	// its index; programs with the same remainder replace one another.
	entries [64]result
	// seen holds the numbers of the programs that the request has evaluated once, at their
	// remainders, to find out which recur.
	seen [256]uint32
}

// Clear removes all values.
func (r *Results) Clear() {
	if fingerprint.Enabled() {
		for i := range r.entries {
			fingerprint.Released(r.entries[i].value)
		}
	}
	*r = Results{}
}

// recurs reports whether series of one request evaluate the program again and again. Programs that
// only one policy contains do not recur: keeping their values would take as long as evaluating
// them.
func (r *Results) recurs(p *Program) bool {
	if p.recurring.Load() {
		return true
	}
	seen := &r.seen[p.number%uint32(len(r.seen))]
	if *seen != p.number {
		*seen = p.number
		return false
	}
	p.recurring.Store(true)
	return true
}

// A result is the value of a program and its cost, with the values of the variables on which they
// depend.
type result struct {
	program *Program
	value   ref.Val
	cost    uint64
	// values holds the values of the variables that the program read. The value holds for all
	// policies whose variables have the same values.
	reads  variableReads
	values [maxReads]ref.Val
}

// maxReads is the maximum number of variables that a program with a kept result reads.
const maxReads = 2

// variableReads lists the positions of the variables that a program read, in the order of their
// first reads.
type variableReads struct {
	// count is more than maxReads if the program read too many variables.
	count     uint8
	positions [maxReads]uint8
}

func (r *variableReads) add(position int) {
	switch {
	case r.count > maxReads:
	case position <= math.MaxUint8 && slices.Contains(r.positions[:r.count], uint8(position)):
	case position > math.MaxUint8 || r.count == maxReads:
		r.count = maxReads + 1
	default:
		r.positions[r.count] = uint8(position)
		r.count++
	}
}

// Share makes the evaluations of s use the values in results, and add theirs. The values of
// 'object', 'oldObject' and 'request' must be the same in all series that share results.
func (s *Series) Share(results *Results) { s.results = results }

// shared returns the result of p if a series has evaluated p with the same values of variables.
// Otherwise it evaluates p, and keeps the result for other series. p must recur.
func (s *Series) shared(p *Program) (ref.Val, programs.Charge, error) {
	found := &s.results.entries[p.number%uint32(len(s.results.entries))]
	if found.program == p {
		if known := *found; s.confirms(&known) {
			return known.value, programs.Charge{Cost: known.cost, Known: true}, nil
		}
	}
	before := s.meter.Mark()
	s.reads = variableReads{}
	value, charge, err := p.Program.Evaluate(s.ctx, s, &s.memory, &s.meter, false)
	// A result is not kept if s.reads lacks variables that cel-go has read, or if the evaluation
	// has used memory or comparisons, which count for each policy.
	if charge.Interpreted || err != nil || s.reads.count > maxReads || s.meter.Mark() != before || !immutable.Keep(value) {
		return value, charge, err
	}
	fingerprint.Released(found.value)
	fingerprint.Kept(value)
	*found = result{program: p, value: value, cost: charge.Cost, reads: s.reads}
	for i, position := range s.reads.positions[:s.reads.count] {
		found.values[i] = s.variable(int(position))
	}
	return value, charge, nil
}

// confirms reports whether the variables have the values that a result depends on. It reads the
// variables that the program would read, in the same order, and none after the first that differs.
func (s *Series) confirms(r *result) bool {
	for i, position := range r.reads.positions[:r.reads.count] {
		if !identical(s.variable(int(position)), r.values[i]) {
			return false
		}
	}
	return true
}

// identical reports whether no expression can tell two values apart: they are the same in memory,
// or equal scalars. Equal values of other types, such as 0.0 and -0.0, can have different results.
func identical(a, b ref.Val) bool {
	switch a.(type) {
	case types.Bool, types.Int, types.Uint, types.String, types.Null:
		return a == b
	default:
		return reflect.TypeOf(a).Kind() == reflect.Pointer && a == b
	}
}

// lastNumber is the number of the program that was compiled last.
var lastNumber atomic.Uint32

// perRequest reports whether policies can share the value of an expression in a request: policies
// with equal variables get equal values. Such an expression reads no variable whose value depends
// on the policy, on the role of the expression, or on the value to which the scope of a validation
// leads.
func perRequest(checked *ast.AST) bool {
	for _, reference := range checked.ReferenceMap() {
		switch reference.Name {
		case NamespaceObject, Params, Authorizer, RequestResource, Lookups, Self, OldSelf, Path:
			return false
		}
	}
	return true
}

// reads reports whether an expression reads a variable.
func reads(checked *ast.AST, name string) bool {
	for _, reference := range checked.ReferenceMap() {
		if reference.Name == name {
			return true
		}
	}
	return false
}
