// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"context"

	"celador.io/admission/cel/internal/programs"
)

// A Step is the value of a node of an expression.
type Step = programs.Step

// A Tracer learns how the parts of expressions evaluate, for tools that measure coverage or explain
// a decision. Implementations are safe for concurrent use.
type Tracer interface {
	// Compiled is called for each expression of a policy that compiles, before a request evaluates
	// it. path is the field of the expression, such as spec.validations[0].expression. Each
	// expression has a program of its own, even if another one has the same text, so Evaluated can
	// tell the expression by its program. For the match conditions of webhooks, policy is the name
	// of the configuration.
	Compiled(policy, path string, program *Program)
	// Evaluated is called after each evaluation of a program, also of one that fails, with the
	// context of the request. Parts that the expression did not evaluate have no step. If the
	// evaluation exceeds the cost limit, the only step is the error of the whole expression. cost
	// is the runtime cost in CEL cost units, without the costs of the variables that the expression
	// reads. The values are valid until the end of the request.
	Evaluated(ctx context.Context, program *Program, steps []Step, cost uint64)
}

// Traced returns a compiler of the same expressions as c whose programs report to the tracer.
// Values, costs and errors are the same as without a tracer. Traced programs take a multiple of the
// time, so they are not for servers.
func (c *Compiler) Traced(tracer Tracer) *Compiler {
	traced := newCompiler(c.base, newLookupsType())
	traced.cache, traced.envs, traced.functions, traced.lookupFunctions, traced.tracer = c.cache, c.envs, c.functions, c.lookupFunctions, tracer
	return traced
}

// Tracer returns the argument of Traced, or nil if the programs of the compiler are not traced.
func (c *Compiler) Tracer() Tracer { return c.tracer }
