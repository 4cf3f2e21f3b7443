// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
)

const (
	// MaxType is of how many types the type of a part of an expression may be made, itself
	// included: list(int) is made of two. A literal whose lists and maps are nested as deep as
	// cel-go parses them has some 500.
	MaxType = 1 << 12
	// maxWork is a limit of Size.Work for the types of all parts together, for which cel-go
	// allocates some 700 MB, one after the other. The longest expression that cel-go parses has
	// some 50,000 parts, with one to twenty each. It takes 220 lists in lists to exceed the
	// limit.
	maxWork = 100_000_000
	// maxSteps is a limit of the work of inferring types. It is some hundred times what the
	// longest expressions take.
	maxSteps = 1 << 22
)

// Check returns issues if the types of a parsed expression may be too large to be checked in an
// environment, which has the functions and any variables and types. Otherwise it returns nil.
// Other mistakes are for the checker to find.
func (f *Functions) Check(env *cel.Env, parsed *cel.Ast) *cel.Issues {
	i := f.newInference(env)
	i.visit(parsed.NativeRep().Expr())
	if i.steps > maxSteps {
		return tooMuchWork(parsed, parsed.NativeRep().Expr().ID())
	}
	work := i.scalars
	for _, p := range i.parts {
		size := p.measure()
		if size.Types > MaxType {
			return issue(parsed, p.id, fmt.Sprintf("type is too large: it is made of more than %d types, as those of nested maps with keys that are maps or lists. Use dyn() for such keys or values", MaxType))
		}
		if work += size.Work; work > maxWork {
			return tooMuchWork(parsed, p.id)
		}
	}
	return nil
}

// Sizes returns the sizes of the types that Check finds for the parts of an expression, by ID.
// Parts with the type of a scalar are left out. No part of a well-typed expression has a
// larger type when it is checked.
func (f *Functions) Sizes(env *cel.Env, parsed *cel.Ast) map[int64]Size {
	i := f.newInference(env)
	i.visit(parsed.NativeRep().Expr())
	sizes := map[int64]Size{}
	for _, p := range i.parts {
		sizes[p.id] = p.measure()
	}
	return sizes
}

func tooMuchWork(parsed *cel.Ast, id int64) *cel.Issues {
	return issue(parsed, id, "types are too large: those of all parts of the expression take too long to check. Use dyn() for lists and maps of large types, or several expressions")
}

func issue(parsed *cel.Ast, id int64, message string) *cel.Issues {
	info := parsed.NativeRep().SourceInfo()
	errs := common.NewErrors(parsed.Source())
	errs.ReportErrorAtID(id, info.GetStartLocation(id), "%s", message)
	return cel.NewIssuesWithSourceInfo(errs, info)
}
