// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/internal/limits"
	"celador.io/admission/cel/parser"
)

// A Step is the value of a node of an expression, which may be an error. A node in the body of a
// macro such as all() has a step for each iteration.
type Step struct {
	// ID is the ID of the node in the checked expression.
	ID    int64
	Value ref.Val
}

// checkTraced parses and checks an expression that compiles. The source info of the result has the
// calls of macros, which Check leaves out.
func (b *Builtins) checkTraced(env *cel.Env, source string, rewrite func(parsed *cel.Ast)) (checked *cel.Ast, err error) {
	defer rescue(&err)
	tracking, err := b.tracking()
	if err != nil {
		return nil, err
	}
	parsed, issues := tracking.Parse(source)
	if issues.Err() == nil {
		issues = parser.CheckCopies(parsed, source)
	}
	if issues.Err() == nil {
		if rewrite != nil {
			rewrite(parsed)
		}
		checked, issues = env.Check(parsed)
	}
	return checked, issues.Err()
}

// PlanTraced plans an expression for cel-go, and sets program, in which only the source and the
// cost limit may be set before. Each evaluation of program calls observe with its steps, in order,
// and its cost. It evaluates the expression twice, because cel-go cannot trace and tell the cost at
// once.
//
// declared and rewrite are the environment and the function with which Check has compiled the
// expression; rewrite may be nil. env is the environment of evaluations. restore undoes what
// rewrite has changed, so that Traced returns the expression as its author wrote it.
func (b *Builtins) PlanTraced(declared, env *cel.Env, rewrite func(parsed *cel.Ast), restore func(checked *ast.AST), observe func(context.Context, []Step, uint64), program *Program) error {
	compiled, err := b.checkTraced(declared, program.Panics.Source, rewrite)
	if err != nil {
		return err
	}
	checked := compiled.NativeRep()
	untraced, err := instantiate(env, checked, b.Library, program.CostLimit)
	if err != nil {
		return err
	}
	traced, err := observable(env, checked, limits.Decorator(checked, b.Library))
	if err != nil {
		return err
	}
	shown := checked
	if rewrite != nil {
		shown = ast.Copy(checked)
		restore(shown)
	}
	var planned cel.Program = &tracedProgram{untraced, shown, traced, observe}
	program.interpreted.planned.Store(&planned)
	return nil
}

// Traced returns the checked expression of a program that PlanTraced planned, as its author wrote
// it: the IDs in steps are those of its nodes. Its source info has the calls of macros. Traced
// returns nil for other programs.
func (p *Program) Traced() *ast.AST {
	if planned := p.interpreted.planned.Load(); planned != nil {
		if traced, ok := (*planned).(*tracedProgram); ok {
			return traced.shown
		}
	}
	return nil
}

type tracedProgram struct {
	cel.Program
	// shown is the checked expression without what rewrite of PlanTraced has changed.
	shown   *ast.AST
	traced  *interpreter.ObservableInterpretable
	observe func(context.Context, []Step, uint64)
}

// ContextEval implements cel.Program.
func (t *tracedProgram) ContextEval(ctx context.Context, input any) (ref.Val, *cel.EvalDetails, error) {
	value, details, err := t.Program.ContextEval(ctx, input)
	if ctx.Err() != nil {
		return value, details, err
	}
	cost := uint64(0)
	if actual := details.ActualCost(); actual != nil {
		cost = *actual
	}
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) {
		// A second evaluation for the steps would take as long as the one that exceeded the limit.
		t.observe(ctx, []Step{{t.shown.Expr().ID(), types.WrapErr(err)}}, cost)
	} else {
		t.observe(ctx, t.steps(ctx, input), cost)
	}
	return value, details, err
}

// steps returns the steps of an evaluation. If a function panics, they end before its call.
func (t *tracedProgram) steps(ctx context.Context, input any) []Step {
	taken := &steps{}
	repeat(ctx, input, func(frame *interpreter.ExecutionFrame) {
		defer rescue(new(error))
		t.traced.ObserveExec(frame, func(state any) { taken = state.(*steps) })
	})
	return taken.taken
}

// repeat calls evaluate with a frame for another evaluation of an expression. The memory and the
// comparisons of this evaluation do not count for the series, which has paid for the first one.
func repeat(ctx context.Context, input any, evaluate func(*interpreter.ExecutionFrame)) {
	frame, err := interpreter.NewExecutionFrame(input)
	if err != nil {
		return
	}
	defer frame.Close()
	if meter, ok := limits.MeterOf(frame); ok {
		defer meter.Repeat(meter.Mark())
	}
	if frame.SetContext(ctx, celconfig.CheckFrequency) == nil {
		evaluate(frame)
	}
}

// observable plans an expression for cel-go so that its evaluations can be observed: ObserveExec
// passes to its observer a *steps, which holds the value of each node.
func observable(env *cel.Env, checked *ast.AST, decorator interpreter.InterpretableDecoratorV2) (planned *interpreter.ObservableInterpretable, err error) {
	defer rescue(&err)
	dispatcher := interpreter.NewDispatcher()
	for name, function := range env.Functions() {
		bindings, err := function.Bindings()
		if err == nil {
			err = dispatcher.Add(bindings...)
		}
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", name, err)
		}
	}
	adapter, provider := env.CELTypeAdapter(), env.CELTypeProvider()
	attributes := interpreter.NewAttributeFactory(env.Container, adapter, provider)
	observed, err := interpreter.NewInterpreter(dispatcher, env.Container, provider, adapter, attributes).NewInterpretable(checked,
		interpreter.CustomDecoratorV2(bindOptionals), interpreter.CustomDecoratorV2(decorator), interpreter.InterruptableEval(),
		interpreter.EvalStateObserver(interpreter.EvalStateFactory(func() interpreter.EvalState { return &steps{} })))
	if err != nil {
		return nil, err
	}
	return observed.(*interpreter.ObservableInterpretable), nil
}

// steps is the state of one evaluation: cel-go calls SetValue with each value of a node. cel-go's
// own interpreter.EvalState keeps only the last value of a node, but the body of a loop has a step
// for each iteration.
type steps struct {
	interpreter.EvalState
	taken []Step
}

// SetValue implements interpreter.EvalState.
func (s *steps) SetValue(id int64, value ref.Val) {
	if value != nil {
		s.taken = append(s.taken, Step{id, value})
	}
}

// bindOptionals implements or() and orValue() of optional values. cel-go has no functions for them,
// but replaces their calls in the programs that cel.Env plans.
func bindOptionals(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := node.(interpreter.InterpretableCall)
	if !ok || len(call.Args()) != 2 {
		return node, nil
	}
	switch call.Function() {
	case "or", "orValue":
		return &alternative{call, call.Args()[0], call.Args()[1]}, nil
	}
	return node, nil
}

// An alternative is a call of or() or orValue(). It evaluates the second argument only if the first
// has no value.
type alternative struct {
	interpreter.InterpretableCall
	first, second interpreter.InterpretableV2
}

// Eval implements interpreter.Interpretable.
func (a *alternative) Eval(activation interpreter.Activation) ref.Val {
	return a.Exec(interpreter.AsFrame(activation))
}

// Exec implements interpreter.InterpretableV2.
func (a *alternative) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	first := a.first.Exec(frame)
	optional, ok := first.(*types.Optional)
	switch {
	case !ok:
		return types.MaybeNoSuchOverloadErr(first)
	case !optional.HasValue():
		return a.second.Exec(frame)
	case a.Function() == "orValue":
		return optional.GetValue()
	default:
		return optional
	}
}
