// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/sets"

	"celador.io/admission/cel/internal/immutable"
	"celador.io/admission/cel/values"
)

// FunctionFinder looks up the functions of an environment. Implementations are safe for concurrent
// use.
type FunctionFinder interface {
	// Find returns the implementation of the named overload of a function. If overload is empty, it
	// returns the implementation that selects the overload by the types of the arguments. It
	// returns nil if there is none.
	Find(function, overload string) *functions.Overload
	// Pattern returns the optimization that compiles a constant regular expression of a
	// function at planning time, or nil if the function takes no regular expression.
	Pattern(function string) *interpreter.RegexOptimization
}

// Decorator returns a decorator for cel-go programs of a checked expression. The decorator
// guards the calls and literals that can exceed a limit, replaces the functions that would change
// an argument (package immutable), and leaves all other nodes alone, so most programs do not grow.
// It is safe for concurrent use if functions is.
func Decorator(checked *ast.AST, functions FunctionFinder) interpreter.InterpretableDecoratorV2 {
	d := &decorator{checked, functions, immutable.Appends(checked.Expr())}
	return d.decorate
}

type decorator struct {
	*ast.AST
	FunctionFinder
	// appends holds the IDs of the calls that append to accumulators.
	appends sets.Set[int64]
}

func (d *decorator) decorate(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch n := node.(type) {
	case interpreter.InterpretableCall:
		return d.call(n)
	case interpreter.InterpretableConstructor:
		if parts := n.InitVals(); len(parts) > smallList && slices.ContainsFunc(parts, isComputed) {
			return &literal{n, len(parts)}, nil
		}
	}
	return node, nil
}

func (d *decorator) call(call interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	args, guard := call.Args(), Of(call.Function())
	switch call.Function() {
	case iteration:
		return newStep(call), nil
	case operators.Equals, operators.NotEquals:
		if d.mayBeConstructed(args[0]) && d.mayBeConstructed(args[1]) {
			return newGuarded(call, equality, comparisons[call.Function()]), nil
		}
		return call, nil
	case operators.Add:
		if !sums[call.OverloadID()] || len(args) != 2 || d.appends.Has(call.ID()) {
			return call, nil
		}
		if isSmallLiteral(args[1]) {
			guard = nil
		}
	case operators.In:
		// A literal such as [x] is small but needs a guard, because x can be a list that takes
		// exponential time to compare.
		if call.OverloadID() == overloads.InMap || constant(args[1]) != nil && isSmallLiteral(args[1]) {
			return call, nil
		}
	}
	if guard == nil && !immutable.Changes(call.Function()) || len(args) == 0 {
		return call, nil
	}
	if pattern := d.Pattern(call.Function()); pattern != nil && len(args) > pattern.RegexIndex {
		if text, ok := constant(args[pattern.RegexIndex]).(types.String); ok {
			return compilePattern(call, guard, pattern, string(text))
		}
	}
	implementation := d.Find(call.Function(), call.OverloadID())
	if implementation == nil || implementation.NonStrict {
		return call, nil
	}
	return newGuarded(call, guard, implementation), nil
}

// equality guards == and !=, which comparisons implements as cel-go does.
var (
	equality    = &Guard{pair: Equality}
	comparisons = map[string]*functions.Overload{
		operators.Equals:    {Binary: types.Equal},
		operators.NotEquals: {Binary: func(l, r ref.Val) ref.Val { return types.Bool(types.Equal(l, r) != types.True) }},
	}
)

// sums holds the overloads of + whose results can be larger than their operands, so that their
// calls need a guard. The empty overload stands for operands of dynamic type.
var sums = map[string]bool{"": true, overloads.AddString: true, overloads.AddBytes: true, overloads.AddList: true}

// mayBeConstructed reports whether a node can evaluate to a list, map or object that an expression
// constructed, according to its static type.
func (d *decorator) mayBeConstructed(arg interpreter.InterpretableV2) bool {
	switch constant(arg).(type) {
	case nil, traits.Lister, traits.Mapper:
	default:
		return false
	}
	switch d.GetType(arg.ID()).Kind() {
	case types.BoolKind, types.BytesKind, types.DoubleKind, types.DurationKind, types.IntKind, types.NullTypeKind,
		types.StringKind, types.TimestampKind, types.TypeKind, types.UintKind:
		return false
	default:
		return true
	}
}

// constant returns the value of a constant node, or nil for other nodes.
func constant(node interpreter.InterpretableV2) ref.Val {
	if c, ok := node.(interpreter.InterpretableConst); ok {
		return c.Value()
	}
	return nil
}

func isComputed(node interpreter.InterpretableV2) bool { return constant(node) == nil }

// isSmallLiteral reports whether a node is a literal so small that an operation with it needs no
// guard: the cost limit bounds the number of operations, and so the total size that they add. An
// example is [x] in the expansion of map().
func isSmallLiteral(node interpreter.InterpretableV2) bool {
	switch n := node.(type) {
	case interpreter.InterpretableConst:
		text, isText := n.Value().(types.String)
		return !isText && sizeOf(n.Value()) <= smallList && !holdsConstructed(n.Value()) || isText && len(text) == 0
	case interpreter.InterpretableConstructor:
		return n.Type() == types.ListType && len(n.InitVals()) == 1
	default:
		return false
	}
}

// holdsConstructed reports whether any element of a list is a list, map or object that an
// expression constructed.
func holdsConstructed(v ref.Val) bool {
	elements, _ := values.LiteralElements(v)
	return slices.ContainsFunc(elements, isConstructed)
}

// A guarded node replaces a strict call of a function in a cel-go program. It checks the limits
// before and after the call, and calls an implementation that changes no argument.
type guarded struct {
	interpreter.InterpretableCall
	args []interpreter.InterpretableV2
	// guard is nil if the call cannot exceed a limit.
	guard          *Guard
	implementation *functions.Overload
}

func newGuarded(call interpreter.InterpretableCall, guard *Guard, implementation *functions.Overload) *guarded {
	return &guarded{call, call.Args(), guard, implementation}
}

// Eval implements interpreter.Interpretable.
func (g *guarded) Eval(activation interpreter.Activation) ref.Val {
	return g.Exec(interpreter.AsFrame(activation))
}

// Exec implements interpreter.InterpretableV2. Arguments are evaluated in cel-go's order, so
// that an argument that is an error costs the same as in cel-go.
func (g *guarded) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	all := len(g.args) == 1 && g.implementation.Unary != nil || len(g.args) == 2 && g.implementation.Binary != nil
	values := make([]ref.Val, len(g.args))
	for i, arg := range g.args {
		values[i] = arg.Exec(frame)
		if !all && types.IsUnknownOrError(values[i]) {
			return values[i]
		}
	}
	for _, value := range values {
		if types.IsUnknownOrError(value) {
			return value
		}
	}
	if g.guard == nil {
		return types.LabelErrNode(g.ID(), g.invoke(values))
	}
	if err := g.guard.Before(frame, values); err != nil {
		return refuse(g.ID(), err)
	}
	result := types.LabelErrNode(g.ID(), g.invoke(values))
	if err := g.guard.After(frame, result); err != nil {
		return refuse(g.ID(), err)
	}
	return result
}

func (g *guarded) invoke(values []ref.Val) ref.Val {
	first, implementation := values[0], g.implementation
	if implementation.OperandTrait == 0 || first.Type().HasTrait(implementation.OperandTrait) {
		switch {
		case len(values) == 1 && implementation.Unary != nil:
			return implementation.Unary(first)
		case len(values) == 2 && implementation.Binary != nil:
			return implementation.Binary(first, values[1])
		case implementation.Function != nil:
			return implementation.Function(values...)
		}
	}
	if receiver, ok := first.(traits.Receiver); ok && first.Type().HasTrait(traits.ReceiverType) {
		return receiver.Receive(g.Function(), g.OverloadID(), values[1:])
	}
	return types.NewErr("no such overload: %s", g.Function())
}

// refuse turns an error of a guard into the result of the call. An exceeded limit cancels the
// evaluation. Any other error becomes a CEL error, which || can absorb: cel-go charges such calls,
// and the charge ends the evaluation if it exceeds the cost limit.
func refuse(id int64, err error) ref.Val {
	if exceeded, ok := err.(exceededError); ok {
		panic(interpreter.EvalCancelledError{Message: string(exceeded), Cause: interpreter.CostLimitExceeded})
	}
	return types.LabelErrNode(id, types.WrapErr(err))
}

// A literal replaces a list, map or object literal in a cel-go program, to count its memory, if it
// is large and not all of its parts are constant.
type literal struct {
	interpreter.InterpretableConstructor
	parts int
}

// Eval implements interpreter.Interpretable.
func (l *literal) Eval(activation interpreter.Activation) ref.Val {
	return l.Exec(interpreter.AsFrame(activation))
}

// Exec implements interpreter.InterpretableV2.
func (l *literal) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	result := l.InterpretableConstructor.Exec(frame)
	if types.IsUnknownOrError(result) {
		return result
	}
	if err := CountElements(frame, l.parts); err != nil {
		return refuse(l.ID(), err)
	}
	return result
}
