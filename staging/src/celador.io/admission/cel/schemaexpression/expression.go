// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"context"

	"github.com/google/cel-go/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/programs"
	"celador.io/admission/cel/reads"
)

// An Expression is a parsed and checked expression. It is immutable and safe for concurrent use.
type Expression struct {
	environment *Environment
	program     *Program
	// checked is nil if the expression shares its program with another one.
	checked *cel.Ast
}

// Compile parses and checks an expression. An error has the type ErrorTypeInvalid, with line and
// column in its detail, if the expression is invalid, and ErrorTypeInternal otherwise.
func (e *Environment) Compile(source string) (*Expression, *apiservercel.Error) {
	x := &Expression{environment: e}
	compile := func() (*Program, *apiservercel.Error) {
		var err *apiservercel.Error
		if x.checked, err = e.check(source); err != nil {
			return nil, err
		}
		return e.plan(source, x.checked)
	}
	key, shared := e.key(source)
	shared = shared && e.compiler.tracer == nil
	var err *apiservercel.Error
	if shared {
		x.program, err = e.compiler.programs.Program(key, compile)
	}
	if !shared || err == nil && x.program.names != (programs.Digest{}) && x.program.names != e.digests().names {
		x.program, err = compile()
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// plan plans a checked expression. A program that cannot be planned holds the reason.
func (e *Environment) plan(source string, checked *cel.Ast) (*Program, *apiservercel.Error) {
	env, err := e.env()
	if err != nil {
		return nil, programs.InternalError("unexpected error loading CEL environment: %v", err)
	}
	program := &Program{output: checked.OutputType()}
	for _, reference := range checked.NativeRep().ReferenceMap() {
		program.readsOldSelf = program.readsOldSelf || reference.Name == OldSelf
	}
	program.Panics.Source, program.CostLimit = source, e.scope.CostLimit
	if e.compiler.tracer != nil {
		observe := func(ctx context.Context, steps []Step, cost uint64) {
			e.compiler.tracer.Evaluated(ctx, program, steps, cost)
		}
		program.err = e.builtins.PlanTraced(env, env, nil, nil, observe, &program.Program)
		return program, nil
	}
	if e.scope.Types == nil && isNamed(checked.NativeRep()) {
		program.names = e.digests().names
	}
	scope := evaluator.Scope{}
	if e.scope.Types != nil {
		scope.Constructor = env.CELTypeProvider()
	}
	program.err = e.builtins.Plan(env, checked, scope, e.later(source), false, &program.Program)
	return program, nil
}

// Source returns the text of the expression.
func (x *Expression) Source() string { return x.program.Source() }

// OutputType returns the static type of the result.
func (x *Expression) OutputType() *cel.Type { return x.program.output }

// ReadsOldSelf reports whether the expression reads oldSelf.
func (x *Expression) ReadsOldSelf() bool { return x.program.readsOldSelf }

// ast returns the checked expression. It checks the expression again if the expression shares its
// program.
func (x *Expression) ast() (*cel.Ast, error) {
	if x.checked != nil {
		return x.checked, nil
	}
	checked, err := x.environment.check(x.program.Source())
	if err != nil {
		return nil, err
	}
	return checked, nil
}

// Entry is the element of a Read's path that stands for every list item and every map value.
const Entry = reads.Entry

// A Read is a part of self that an expression reads. Its path leads from self to the part.
type Read = reads.Read

// SelfReads returns the parts of self that the result of the expression may depend on. It may return
// parts that the expression does not read, but leaves out none that it does.
func (x *Expression) SelfReads() []Read { return x.readsOf(Self) }

// RootReads returns the parts of the variable Root that the result may depend on, as SelfReads
// does. They include what the shared variables read.
func (x *Expression) RootReads() []Read { return x.readsOf(Root) }

func (x *Expression) readsOf(variable string) []Read {
	checked, err := x.ast()
	if err != nil {
		return []Read{{Whole: true}}
	}
	var found []Read
	for _, read := range x.environment.reads(checked, Self).Reads {
		if read.Path[0] == variable {
			found = append(found, Read{Path: read.Path[1:], Whole: read.Whole})
		}
	}
	return found
}

// reads analyzes what an expression reads. Paths begin with the name of a variable. Those of self
// begin with the given name, which is Root for an expression whose self is the whole object.
func (e *Environment) reads(checked *cel.Ast, self string) reads.Analysis {
	roots := map[string][]string{Self: {self}}
	for _, other := range e.scope.Others {
		roots[other.Name] = []string{other.Name}
	}
	var shared map[string]*reads.Analysis
	if e.scope.Shared != nil {
		shared = e.scope.Shared.analyses
	}
	return reads.Of(checked.NativeRep().Expr(), roots, shared)
}

// Program returns the program of the expression. It returns an error if cel-go cannot plan the
// expression, for example if a constant is not a valid duration.
func (x *Expression) Program() (*Program, error) {
	if x.program.err != nil {
		return nil, x.program.err
	}
	return x.program, nil
}
