// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"sync"

	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/internal/evaluator"
	"celador.io/admission/internal/typesize"
)

// functions indexes the functions of a base environment, for stored and for new expressions, on
// first use.
type functions struct {
	stored, fresh func() (*builtins, error)
}

// builtins holds the function implementations and overloads of an environment. It is safe for
// concurrent use.
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

// of returns the functions that are available to expressions of the given origin.
func (f *functions) of(origin environment.Type) (*builtins, error) {
	if origin == environment.NewExpressions {
		return f.fresh()
	}
	return f.stored()
}
