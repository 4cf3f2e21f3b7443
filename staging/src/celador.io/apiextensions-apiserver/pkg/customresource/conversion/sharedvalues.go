// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
)

// sharedValues holds the values that all rules read for one object, such as root and the variables.
// They are computed when a rule first reads them.
type sharedValues struct {
	ctx  context.Context
	root ref.Val
	// activation is the activation of the variables' expressions.
	activation schemaexpression.Activation
	// variables holds the values or errors of the variables, by position.
	variables []ref.Val
}

// root returns the value of the variable root, which is the whole source.
func (c *conversion) root() ref.Val {
	if c.shared.root == nil {
		c.shared.root = schemaexpression.Value(c.source, c.plan.root)
	}
	return c.shared.root
}

// ResolveName returns the value of a variable other than self. It serves the expressions of
// variables, and rules whose scope contains no [*]; entryValues serves the other rules.
func (c *conversion) ResolveName(name string) (any, bool) {
	switch name {
	case schemaexpression.Root:
		return c.root(), true
	case tablesName, invertedName:
		return c.plan.tables.values[name], true
	default:
		i, ok := c.plan.positions[name]
		if !ok {
			return nil, false
		}
		return c.variable(i), true
	}
}

// variable returns the value of a variable, which it evaluates on the first read. A variable reads
// only those before it.
func (c *conversion) variable(i int) ref.Val {
	if c.shared.variables == nil {
		c.shared.variables = make([]ref.Val, len(c.plan.variables))
		c.shared.activation = schemaexpression.Activation{Self: c.root(), Values: c, StopAtCostLimit: true}
	}
	if c.shared.variables[i] == nil {
		c.shared.variables[i] = c.evaluate(i)
	}
	return c.shared.variables[i]
}

// evaluate returns the value of a variable, or an error that names it, and charges the budget of
// the object.
func (c *conversion) evaluate(i int) ref.Val {
	variable := &c.plan.variables[i]
	fail := func(reason ErrorReason, err error) ref.Val {
		return types.WrapErr(&variableError{reason, c.plan.converter, i, variable.name, err})
	}
	evaluation := variable.program.EvaluateShared(c.shared.ctx, &c.shared.activation)
	if !c.charge(evaluation) {
		c.budget = 0
		return fail(ReasonCost, errObjectCost)
	}
	if evaluation.Err != nil {
		return fail(causeOf(evaluation, variable.readsTable))
	}
	return evaluation.Value
}

// A variableError is the reason why a variable has no value.
type variableError struct {
	reason           ErrorReason
	converter, index int
	name             string
	err              error
}

// Error implements error. If variables read one another, it names the one that the rule reads and
// the one that fails.
func (e *variableError) Error() string {
	var last *variableError
	for cause := e; errors.As(cause.err, &cause); {
		last = cause
	}
	if last == nil {
		return fmt.Sprintf("%s: %v", e.variable(), e.err)
	}
	return fmt.Sprintf("%s: %s: %v", e.variable(), last.variable(), last.err)
}

func (e *variableError) variable() string {
	return fmt.Sprintf("spec.conversion.converters[%d].variables[%d] (%s.%s)", e.converter, e.index, schemaexpression.Variables, e.name)
}

// Unwrap returns the cause.
func (e *variableError) Unwrap() error { return e.err }

// entryValues resolves the names in rules whose scope contains [*]. These rules can read index, the
// index or key of the entry, in addition to the names that conversion resolves.
type entryValues struct {
	*conversion
	// entry is the list item or map entry that the last [*] stands for.
	entry *rulepath.Segment
}

// ResolveName returns the value of a variable other than self.
func (v entryValues) ResolveName(name string) (any, bool) {
	switch {
	case name != indexName:
		return v.conversion.ResolveName(name)
	case v.entry.Item:
		return types.Int(v.entry.Index), true
	default:
		return types.String(v.entry.Name), true
	}
}
