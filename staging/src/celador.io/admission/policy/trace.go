// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import "celador.io/admission/cel/expression"

// announce tells the tracer of the compiler, if there is one, which program evaluates which field
// of the policy.
func (c *Compilation) announce(compiler *expression.Compiler, policy string) {
	tracer := compiler.Tracer()
	if tracer == nil {
		return
	}
	for i := range c.compiled {
		if program := c.compiled[i].Program; program != nil {
			tracer.Compiled(policy, c.anatomy.Expressions[i].Path.String(), program)
		}
	}
}
