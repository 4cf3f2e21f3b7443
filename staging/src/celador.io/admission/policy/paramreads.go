// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/paramparts"
	"celador.io/admission/policyspec"
)

// ParamReads describes the parts of params that the expressions of a policy read.
type ParamReads struct {
	// Parts are the parts that all expressions but messages read.
	paramparts.Parts
	// Messages is set if a message expression reads params.
	Messages bool
}

// None reports whether no expression reads params.
func (r *ParamReads) None() bool { return r.Empty() && !r.Messages }

func (c *Compilation) paramReads() ParamReads {
	if c.anatomy.ParamKind == nil {
		return ParamReads{}
	}
	var messages, others []*expression.Program
	for i := range c.compiled {
		switch program := c.compiled[i].Program; c.anatomy.Expressions[i].Role {
		case policyspec.Message:
			messages = append(messages, program)
		default:
			others = append(others, program)
		}
	}
	return ParamReads{
		Parts:    paramparts.New(expression.ParamReads(c.variables, others...)),
		Messages: len(expression.ParamReads(c.variables, messages...)) > 0,
	}
}
