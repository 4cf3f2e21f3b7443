// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"runtime"
	"sync"
	"weak"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// cache has the programs that are in use, so that policies which say the same share
// one. Safe for concurrent use.
type cache struct {
	lock     sync.Mutex
	programs map[cacheKey]weak.Pointer[Program]
}

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

func (c *cache) get(key cacheKey) *Program {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.programs[key].Value()
}

// put keeps the program as long as somebody else does.
func (c *cache) put(key cacheKey, program *Program) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.programs[key] = weak.Make(program)
	runtime.AddCleanup(program, c.forget, key)
}

func (c *cache) forget(key cacheKey) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.programs[key].Value() == nil {
		delete(c.programs, key)
	}
}
