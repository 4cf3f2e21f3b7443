// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"github.com/google/cel-go/cel"

	"celador.io/admission/cel/internal/syntax"
)

const (
	// MaxType is the maximum size of the type of a subexpression, in types including itself:
	// list(int) consists of two. A literal whose lists and maps are nested as deep as the parser
	// allows has about 500.
	MaxType = 1 << 12
	// maxWork is the maximum sum of Size.Work over all subexpressions. cel-go allocates about 700
	// MB in total for types of this size. The longest expression that the parser accepts has about
	// 50,000 subexpressions, each with a Work between one and twenty. 220 nested lists exceed the
	// limit.
	maxWork = 100_000_000
	// maxSteps is the maximum number of inference steps. The longest ordinary expressions need a
	// hundredth of it.
	maxSteps = 1 << 22
)

// Check returns an issue if a type in the parsed expression may be too large for the checker, or if
// the checker would panic, and nil otherwise. f must hold the functions of env. Check ignores type
// errors, which the checker reports. It is safe for concurrent use.
func (f *Overloads) Check(env *cel.Env, parsed *cel.Ast) *cel.Issues {
	i := f.newInference(env)
	i.visit(parsed.NativeRep().Expr())
	if i.steps > maxSteps {
		return tooMuchWork(parsed, parsed.NativeRep().Expr().ID())
	}
	work := i.scalars
	for _, p := range i.subexpressions {
		size := p.measure()
		if size.Types > MaxType {
			return syntax.NewIssue(parsed, p.id, "type is too large: it is made of more than %d types, as those of nested maps with keys that are maps or lists. Use dyn() for such keys or values", MaxType)
		}
		if work += size.Work; work > maxWork {
			return tooMuchWork(parsed, p.id)
		}
	}
	return checkOptionalEntries(env, parsed)
}

func tooMuchWork(parsed *cel.Ast, id int64) *cel.Issues {
	return syntax.NewIssue(parsed, id, "types are too large: those of all parts of the expression take too long to check. Use dyn() for lists and maps of large types, or several expressions")
}
