// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/intern"
)

// cache has the programs that are in use, so that policies which say the same share
// one.
type cache = intern.Pool[cacheKey, Program]

// cacheKey is all that a program depends on.
type cacheKey struct {
	// variables are the names and types of those in scope, in order.
	variables string
	source    string
	in        Declarations
	origin    environment.Type
	returns   string
}

func newCacheKey(variables, source string, in Declarations, origin environment.Type, returns []*cel.Type) cacheKey {
	return cacheKey{variables, source, in, origin, fmt.Sprint(returns)}
}
