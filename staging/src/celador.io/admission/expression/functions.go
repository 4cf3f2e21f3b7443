// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"sync"

	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/evaluator"
	"celador.io/admission/typesize"
)

// functions has the functions of a base environment, gathered when first needed.
type functions struct {
	stored, fresh func() (*builtins, error)
}

// builtins has what is known of the functions of an environment. Safe for concurrent use.
type builtins struct {
	*evaluator.Library
	sizes *typesize.Functions
}

func newFunctions(base *environment.EnvSet) *functions {
	of := func(origin environment.Type) func() (*builtins, error) {
		return sync.OnceValues(func() (*builtins, error) {
			env, err := base.Env(origin)
			if err != nil {
				return nil, err
			}
			implementations, err := evaluator.NewLibrary(env)
			if err != nil {
				return nil, err
			}
			return &builtins{implementations, typesize.NewFunctions(env)}, nil
		})
	}
	return &functions{stored: of(environment.StoredExpressions), fresh: of(environment.NewExpressions)}
}

// of returns the functions of expressions of the origin.
func (f *functions) of(origin environment.Type) (*builtins, error) {
	if origin == environment.NewExpressions {
		return f.fresh()
	}
	return f.stored()
}
