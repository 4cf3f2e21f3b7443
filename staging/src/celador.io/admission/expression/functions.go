// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"sync"

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

// of returns the functions of expressions of the origin.
func (f *functions) of(origin environment.Type) (*evaluator.Library, error) {
	if origin == environment.NewExpressions {
		return f.fresh()
	}
	return f.stored()
}
