// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/matchconditions"
	"celador.io/admission/policyspec"
)

// Compilation holds the compiled expressions of one policy.
type Compilation struct {
	anatomy *policyspec.Anatomy
	// compiled holds the compiled anatomy.Expressions, in the same order.
	compiled   []expression.Compiled
	variables  []expression.Variable
	conditions matchconditions.Conditions
	broken     []error
}

// compile compiles the expressions of a policy. It begins with the variables, which all other
// expressions may read.
func compile(compiler *expression.Compiler, anatomy *policyspec.Anatomy) *Compilation {
	c := &Compilation{anatomy: anatomy, compiled: make([]expression.Compiled, len(anatomy.Expressions))}
	reader := compiler.Bare()
	if anatomy.Has(policyspec.Variable) || len(anatomy.Lookups) > 0 {
		composition := compiler.Compose()
		defer compiler.Release(composition)
		reader = composition.Compiler
		composition.DeclareLookups(anatomy.LookupNames()...)
		c.each(true, func(e *policyspec.Expression) (*expression.Program, *apiservercel.Error) {
			return composition.Declare(e.Name, e.Source, anatomy.Declarations(e), environment.StoredExpressions)
		})
		expression.Link(c.variables)
	}
	c.each(false, func(e *policyspec.Expression) (*expression.Program, *apiservercel.Error) {
		if e.Role == policyspec.Index {
			return compiler.Compile(e.Source, anatomy.Declarations(e), environment.StoredExpressions, e.Returns()...)
		}
		return reader.Compile(e.Source, anatomy.Declarations(e), environment.StoredExpressions, e.Returns()...)
	})
	return c
}

// each compiles the variables of the policy if variables is set, and otherwise its other
// expressions, and adds the results and errors to c.
func (c *Compilation) each(variables bool, compile func(*policyspec.Expression) (*expression.Program, *apiservercel.Error)) {
	for i := range c.anatomy.Expressions {
		e := &c.anatomy.Expressions[i]
		if (e.Role == policyspec.Variable) != variables {
			continue
		}
		program, err := compile(e)
		if err != nil {
			c.Report(e.Path, err)
		}
		c.compiled[i] = expression.Compiled{Program: program, Err: err}
		switch e.Role {
		case policyspec.Variable:
			c.variables = append(c.variables, expression.Variable{Name: e.Name, Program: program, Err: err})
		case policyspec.MatchCondition:
			c.conditions = append(c.conditions, matchconditions.Condition{Compiled: c.compiled[i], Name: e.Name})
		}
	}
}

// programs returns the programs of the expressions that compile, without those of messages and
// indexes, for CompiledSpec.programs.
func (c *Compilation) programs() []*expression.Program {
	result := make([]*expression.Program, 0, len(c.compiled))
	for i := range c.compiled {
		role := c.anatomy.Expressions[i].Role
		if p := c.compiled[i].Program; p != nil && role != policyspec.Message && role != policyspec.Index {
			result = append(result, p)
		}
	}
	return slices.Clip(result)
}

// Expressions ranges over the expressions of the policy in the order of its anatomy. It leaves out
// match conditions and variables: CompiledSpec holds them for all kinds of policies.
func (c *Compilation) Expressions() iter.Seq2[*policyspec.Expression, expression.Compiled] {
	return func(yield func(*policyspec.Expression, expression.Compiled) bool) {
		for i := range c.anatomy.Expressions {
			e := &c.anatomy.Expressions[i]
			if e.Role != policyspec.MatchCondition && e.Role != policyspec.Variable && !yield(e, c.compiled[i]) {
				return
			}
		}
	}
}

// Report records an error of the field at path for Policy.Errors. The caller makes the requests
// that evaluate the field fail.
func (c *Compilation) Report(path *field.Path, err error) {
	c.broken = append(c.broken, fmt.Errorf("%v: %w", path, err))
}

// ReportAll records errors of fields for Policy.Errors, as Report does.
func (c *Compilation) ReportAll(errs field.ErrorList) {
	for _, err := range errs {
		c.broken = append(c.broken, fmt.Errorf("%s: %s", err.Field, err.Detail))
	}
}

// announce tells the tracer of the compiler, if there is one, which program evaluates which field
// of the policy. It leaves out the indexes of lookups, which are evaluated apart from requests.
func (c *Compilation) announce(compiler *expression.Compiler, policy string) {
	tracer := compiler.Tracer()
	if tracer == nil {
		return
	}
	for i := range c.compiled {
		if e := &c.anatomy.Expressions[i]; c.compiled[i].Program != nil && e.Role != policyspec.Index {
			tracer.Compiled(policy, e.Path.String(), c.compiled[i].Program)
		}
	}
}
