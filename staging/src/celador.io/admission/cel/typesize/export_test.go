// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import "github.com/google/cel-go/cel"

// Sizes returns the inferred size of the type of each subexpression, by expression ID. It leaves
// out subexpressions of scalar type. In a well-typed expression, the checker infers no larger type
// for any subexpression.
func (f *Overloads) Sizes(env *cel.Env, parsed *cel.Ast) map[int64]Size {
	i := f.newInference(env)
	i.visit(parsed.NativeRep().Expr())
	sizes := map[int64]Size{}
	for _, p := range i.subexpressions {
		sizes[p.id] = p.measure()
	}
	return sizes
}
