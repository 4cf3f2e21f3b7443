// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
)

// announce tells the tracer of the compiler, if there is one, which program evaluates which field
// of the policy.
func (c *Compilation) announce(compiler *expression.Compiler, policy string) {
	tracer := compiler.Tracer()
	if tracer == nil {
		return
	}
	variables := c.variables
	for i := range c.anatomy.Expressions {
		e, program := &c.anatomy.Expressions[i], c.compiled[i].Program
		if e.Role == policyspec.Variable {
			program, variables = variables[0].Program, variables[1:]
		}
		if program != nil {
			tracer.Compiled(policy, e.Path.String(), program)
		}
	}
}
