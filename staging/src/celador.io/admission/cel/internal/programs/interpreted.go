// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/fingerprint"
	"celador.io/admission/cel/internal/limits"
	"celador.io/admission/panics"
)

// An interpreted expression plans its cel-go program on first use. Most expressions never need the
// program, which takes several times the memory of the rest of the expression. It is safe for
// concurrent use.
type interpreted struct {
	planned atomic.Pointer[cel.Program]
	// later returns the checked expression, for planning on first use and for reports of panics. It
	// may be nil for programs that are planned at once.
	later   Later
	library *evaluator.Library
	// costLimit is the highest cost of an evaluation. 0 means the limit of the environment.
	costLimit uint64
}

// program returns the cel-go program. It plans the program on the first call, and returns the
// error of checking or planning the expression again.
func (i *interpreted) program() (cel.Program, error) {
	if planned := i.planned.Load(); planned != nil {
		return *planned, nil
	}
	// Concurrent first evaluations may each plan a program, rather than wait for each other.
	env, checked, err := i.later()
	if err != nil {
		return nil, err
	}
	planned, err := instantiate(env, checked, i.library, i.costLimit)
	if err == nil {
		i.planned.Store(&planned)
	}
	return planned, err
}

// instantiate plans the cel-go program of a checked expression. It turns a panic of the planner
// into an error, as plan does.
func instantiate(env *cel.Env, checked *ast.AST, library *evaluator.Library, costLimit uint64) (program cel.Program, err error) {
	defer rescue(&err)
	if fingerprint.Enabled() {
		for _, literal := range ast.MatchDescendants(ast.NavigateAST(checked), ast.KindMatcher(ast.LiteralKind)) {
			fingerprint.Kept(literal.AsLiteral())
		}
	}
	options := []cel.ProgramOption{cel.InterruptCheckFrequency(celconfig.CheckFrequency), cel.CustomDecoratorV2(limits.Decorator(checked, library))}
	if costLimit > 0 {
		options = append(options, cel.CostLimit(costLimit))
	}
	return env.PlanProgram(limits.WithIterations(checked), options...)
}

// rescue, when deferred, turns a panic into an error.
func rescue(err *error) {
	if r := recover(); r != nil {
		panics.Record(panics.Compiler, r)
		*err = fmt.Errorf("internal error: %v", r)
	}
}
