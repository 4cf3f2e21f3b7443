// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"context"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/lazy"
)

// Variable is a compiled variable of a policy, or the reason why it does not
// compile.
type Variable struct {
	Name    string
	Program *Program
	Err     *apiservercel.Error
}

var variablesType = types.NewObjectType("kubernetes.variables")

// LazyVariables returns the value of 'variables' for one series of evaluations: an
// object whose fields are evaluated when first read, with the given activation and
// at the expense of the given budget. A failing variable fails only the expressions
// that read it.
func LazyVariables(ctx context.Context, variables []Variable, activation interpreter.Activation, budget *Budget) ref.Val {
	value := lazy.NewMapValue(variablesType)
	for i := range variables {
		v := &variables[i]
		value.Append(v.Name, func(*lazy.MapValue) ref.Val { return v.evaluate(ctx, activation, budget) })
	}
	return value
}

func (v *Variable) evaluate(ctx context.Context, activation interpreter.Activation, budget *Budget) ref.Val {
	if v.Err != nil {
		return types.NewErr("composited variable %q fails to compile: %v", v.Name, v.Err)
	}
	value, details, err := v.Program.program.ContextEval(ctx, activation)
	if details == nil {
		return types.NewErr("unable to get evaluation details of variable %q", v.Name)
	}
	cost := details.ActualCost()
	if cost == nil {
		return types.NewErr("unable to calculate cost of variable %q", v.Name)
	}
	budget.owe(*cost)
	if err != nil {
		return types.NewErr("composited variable %q fails to evaluate: %v", v.Name, err)
	}
	return value
}
