// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/evaluator"
)

// functions has the functions of a base environment, gathered when first needed.
type functions struct {
	stored, fresh func() (*evaluator.Library, error)
}

func newFunctions(base *environment.EnvSet) *functions {
	of := func(origin environment.Type) func() (*evaluator.Library, error) {
		return sync.OnceValues(func() (*evaluator.Library, error) {
			env, err := base.Env(origin)
			if err != nil {
				return nil, err
			}
			return evaluator.NewLibrary(env)
		})
	}
	return &functions{stored: of(environment.StoredExpressions), fresh: of(environment.NewExpressions)}
}

// plan returns an empty program for an expression that is cel-go's to evaluate.
func (c *Compiler) plan(env *cel.Env, ast *cel.Ast, origin environment.Type) evaluator.Program {
	library := c.functions.stored
	if origin == environment.NewExpressions {
		library = c.functions.fresh
	}
	known, err := library()
	if err != nil {
		return evaluator.Program{}
	}
	program, err := evaluator.Plan(env, ast, known, evaluator.Scope{Variables: Variables, Names: c.names})
	if err != nil {
		return evaluator.Program{}
	}
	return *program
}
