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

// Functions indexes the functions of a base environment, for stored and for new expressions, on
// first use. It is safe for concurrent use.
type Functions struct {
	stored, fresh func() (*Builtins, error)
}

// Builtins holds the function implementations and overloads, and a parser, of an environment. It is
// safe for concurrent use.
type Builtins struct {
	*evaluator.Library
	sizes  *typesize.Functions
	parser *parser.Parser
	// tracking returns the environment whose parser keeps the calls of macros.
	tracking func() (*cel.Env, error)
}

// NewFunctions returns the functions of a base environment.
func NewFunctions(base *environment.EnvSet) *Functions {
	of := func(origin environment.Type) func() (*Builtins, error) {
		return sync.OnceValues(func() (*Builtins, error) {
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
			return &Builtins{implementations, typesize.NewFunctions(env), parser.New(env), sync.OnceValues(tracking)}, nil
		})
	}
	return &Functions{stored: of(environment.StoredExpressions), fresh: of(environment.NewExpressions)}
}

// Of returns the functions that are available to expressions of the given origin.
func (f *Functions) Of(origin environment.Type) (*Builtins, error) {
	if origin == environment.NewExpressions {
		return f.fresh()
	}
	return f.stored()
}

// CheckNodes returns an error if the macros of an expression copy so much that cel-go would take
// too long to check it. It ignores all other errors.
func (b *Builtins) CheckNodes(source string) error { return b.parser.CheckNodes(source) }
