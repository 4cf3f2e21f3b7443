// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/matchconditions"
	"celador.io/admission/policyspec"
)

// Compilation holds the compiled expressions of one policy.
type Compilation struct {
	anatomy *policyspec.Anatomy
	// compiled holds the expressions of the anatomy, except variables.
	compiled   []expression.Compiled
	variables  []expression.Variable
	conditions matchconditions.Conditions
	broken     []error
}

// compile compiles variables first, because all other expressions may read them.
func compile(compiler *expression.Compiler, anatomy *policyspec.Anatomy) *Compilation {
	c := &Compilation{anatomy: anatomy, compiled: make([]expression.Compiled, len(anatomy.Expressions))}
	reader := compiler.Bare()
	if anatomy.Has(policyspec.Variable) {
		composition := compiler.Compose()
		defer compiler.Release(composition)
		c.declareVariables(composition)
		reader = composition.Compiler
	}
	for i := range anatomy.Expressions {
		e := &anatomy.Expressions[i]
		if e.Role == policyspec.Variable {
			continue
		}
		program, err := reader.Compile(e.Source, anatomy.Declarations(e), environment.StoredExpressions, e.Returns()...)
		if err != nil {
			c.Report(e.Path, err)
		}
		c.compiled[i] = expression.Compiled{Program: program, Err: err}
		if e.Role == policyspec.MatchCondition {
			c.conditions = append(c.conditions, matchconditions.Condition{Compiled: c.compiled[i], Name: e.Name})
		}
	}
	return c
}

// programs returns the programs of the variables and of all expressions but messages. Expressions
// that do not compile have none.
func (c *Compilation) programs() []*expression.Program {
	result := make([]*expression.Program, 0, len(c.compiled))
	for i := range c.variables {
		result = append(result, c.variables[i].Program)
	}
	for i := range c.compiled {
		if c.anatomy.Expressions[i].Role != policyspec.Message {
			result = append(result, c.compiled[i].Program)
		}
	}
	result = slices.DeleteFunc(result, func(p *expression.Program) bool { return p == nil })
	return slices.Clip(result)
}

func (c *Compilation) declareVariables(composition *expression.Composition) {
	for i := range c.anatomy.Expressions {
		e := &c.anatomy.Expressions[i]
		if e.Role != policyspec.Variable {
			continue
		}
		program, err := composition.Declare(e.Name, e.Source, c.anatomy.Declarations(e), environment.StoredExpressions)
		if err != nil {
			c.Report(e.Path, err)
		}
		c.variables = append(c.variables, expression.Variable{Name: e.Name, Program: program, Err: err})
	}
	expression.Link(c.variables)
}

// Expressions ranges over the expressions of the policy in the order of its anatomy. Match
// conditions and variables are left out, because they belong to Policy.
func (c *Compilation) Expressions() iter.Seq2[*policyspec.Expression, expression.Compiled] {
	return func(yield func(*policyspec.Expression, expression.Compiled) bool) {
		for i := range c.anatomy.Expressions {
			e := &c.anatomy.Expressions[i]
			if e.Role == policyspec.MatchCondition || e.Role == policyspec.Variable {
				continue
			}
			if !yield(e, c.compiled[i]) {
				return
			}
		}
	}
}

// Report adds an error that fails every request that evaluates the field.
func (c *Compilation) Report(path *field.Path, err error) {
	c.broken = append(c.broken, fmt.Errorf("%v: %w", path, err))
}
