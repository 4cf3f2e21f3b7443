// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/parser"
	"celador.io/admission/cel/typesize"
)

// BaseFunctions holds the Builtins of a base environment, that is its functions, overloads and
// parser: one for stored expressions, and one for new expressions, which may use fewer functions.
// Each is made on first use. BaseFunctions is safe for concurrent use.
type BaseFunctions map[environment.Type]func() (*Builtins, error)

// Builtins holds what checking and planning an expression needs of an environment, apart from its
// variables and types: the implementations of the functions, their overloads, from which the sizes
// of types are inferred, and the parser. It is safe for concurrent use.
type Builtins struct {
	*evaluator.Library
	*parser.Parser
	sizes *typesize.Overloads
	// tracking returns the environment with a parser that keeps the calls of macros, for traced
	// programs.
	tracking func() (*cel.Env, error)
}

// NewBaseFunctions returns the functions of a base environment.
func NewBaseFunctions(base *environment.EnvSet) BaseFunctions {
	f := BaseFunctions{}
	for _, origin := range []environment.Type{environment.StoredExpressions, environment.NewExpressions} {
		f[origin] = sync.OnceValues(func() (*Builtins, error) {
			env, err := base.Env(origin)
			if err != nil {
				return nil, err
			}
			if env, err = parser.BoundMacros(env); err != nil {
				return nil, err
			}
			implementations, err := evaluator.NewLibrary(env)
			if err != nil {
				return nil, err
			}
			tracking := func() (*cel.Env, error) { return env.Extend(cel.EnableMacroCallTracking()) }
			return &Builtins{implementations, parser.New(env), typesize.NewOverloads(env), sync.OnceValues(tracking)}, nil
		})
	}
	return f
}

// Of returns the functions that are available to expressions of the given origin, which are stored
// or new.
func (f BaseFunctions) Of(origin environment.Type) (*Builtins, error) { return f[origin]() }
