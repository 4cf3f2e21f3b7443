// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"crypto/sha256"
	"fmt"
	"regexp"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/intern"
	"celador.io/admission/cel/internal/immutable"
)

// A Library holds the function implementations of an environment. The programs of the environment
// share through it the closures of equal subexpressions (plans) and compiled patterns, which saves
// memory and keeps what many policies repeat in the processor's caches. It is safe for concurrent
// use.
type Library struct {
	// overloads maps overload IDs and function names to implementations. The implementation of a
	// function name selects the overload by the types of its arguments.
	overloads map[string]*functions.Overload
	// appending is the implementation of + for the accumulators of comprehensions: it appends to
	// its first argument in place.
	appending *functions.Overload
	adapter   types.Adapter
	plans     intern.Pool[planKey, sharedPlan]
	// regexes holds compiled patterns while a program uses them. A compiled pattern can be far
	// larger than its source, so closures share it with the cel-go programs of their expressions.
	regexes  intern.Pool[[sha256.Size]byte, regexp.Regexp]
	trackers trackers
}

// NewLibrary returns the library of env and of all environments that extend env with variables and
// types only. It returns an error if the declarations of a function conflict.
func NewLibrary(env *cel.Env) (*Library, error) {
	library := &Library{overloads: map[string]*functions.Overload{}, adapter: env.CELTypeAdapter(), trackers: trackers{env: env}}
	for name, declaration := range env.Functions() {
		bindings, err := declaration.Bindings()
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", name, err)
		}
		for _, overload := range bindings {
			library.overloads[overload.Operator] = immutable.Function(name, overload)
			if overload.Operator == operators.Add {
				library.appending = overload
			}
		}
	}
	return library, nil
}

// Find implements limits.FunctionFinder. It returns the implementation of the named overload of a
// function, which changes no argument. If overload is empty or unknown, it returns the
// implementation that selects the overload by the types of the arguments. It returns nil if there
// is none.
func (l *Library) Find(function, overload string) *functions.Overload {
	if found, ok := l.overloads[overload]; ok && overload != "" {
		return found
	}
	return l.overloads[function]
}
