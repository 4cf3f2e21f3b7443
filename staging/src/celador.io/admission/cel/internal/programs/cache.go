// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"sync"

	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/intern"
)

// A Cache shares programs with equal keys while the programs are in use. The zero value is ready
// for use. A Cache is safe for concurrent use.
type Cache[P any] struct {
	programs intern.Pool[Digest, P]
	lock     sync.Mutex
	// compiling holds the compilations in progress. The admission plugin and the status controller
	// often compile the same policy at the same time.
	compiling map[Digest]*compilation[P]
}

// A compilation is in progress while its lock is held.
type compilation[P any] struct {
	sync.Mutex
	ended   bool
	program *P
	err     *apiservercel.Error
}

// Program returns the program with the given key. If no such program is in use, it calls compile,
// once for concurrent calls with the same key. Errors of compile are not cached.
func (c *Cache[P]) Program(key Digest, compile func() (*P, *apiservercel.Error)) (*P, *apiservercel.Error) {
	if program := c.programs.Find(key); program != nil {
		return program, nil
	}
	compilation, waited := c.join(key)
	defer compilation.Unlock()
	if waited && compilation.ended {
		return compilation.program, compilation.err
	}
	defer c.leave(key)
	// A compilation in another goroutine may have ended since the first lookup.
	compilation.program = c.programs.Find(key)
	if compilation.program == nil {
		compilation.program, compilation.err = compile()
	}
	if compilation.err == nil {
		c.programs.Add(key, compilation.program)
	}
	compilation.ended = true
	return compilation.program, compilation.err
}

// join returns the locked compilation of a key. If another goroutine has started that compilation,
// join waits for its end and returns true. The compilation of a goroutine that panicked has not
// ended.
func (c *Cache[P]) join(key Digest) (joined *compilation[P], waited bool) {
	c.lock.Lock()
	joined, waited = c.compiling[key]
	if waited {
		c.lock.Unlock()
		joined.Lock()
		return joined, true
	}
	defer c.lock.Unlock()
	joined = &compilation[P]{}
	joined.Lock()
	if c.compiling == nil {
		c.compiling = map[Digest]*compilation[P]{}
	}
	c.compiling[key] = joined
	return joined, false
}

func (c *Cache[P]) leave(key Digest) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.compiling, key)
}
