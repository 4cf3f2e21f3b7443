// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/intern"
)

// Library has the implementations of the functions that an environment declares, and
// what programs have in common. It is safe for concurrent use.
type Library struct {
	// overloads are by name of the overload, and by name of the function, whose
	// implementation finds the overload by the types of its arguments.
	overloads map[string]*functions.Overload
	adapter   types.Adapter
	parts     intern.Pool[partKey, part]
	regexes   regexes
}

// NewLibrary returns the functions of an environment, which also are those of all that
// extend it by variables and types only. It is an error if the environment contradicts
// itself.
func NewLibrary(env *cel.Env) (*Library, error) {
	library := &Library{overloads: map[string]*functions.Overload{}, adapter: env.CELTypeAdapter()}
	for name, declaration := range env.Functions() {
		bindings, err := declaration.Bindings()
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", name, err)
		}
		for _, overload := range bindings {
			library.overloads[overload.Operator] = overload
		}
	}
	return library, nil
}

// Find implements limits.Functions. It returns the implementation of the named overload of a
// function. If overload is empty, it returns the implementation that selects the overload
// itself. It returns nil if there is none.
func (l *Library) Find(function, overload string) *functions.Overload {
	if found, ok := l.overloads[overload]; ok && overload != "" {
		return found
	}
	return l.overloads[function]
}
