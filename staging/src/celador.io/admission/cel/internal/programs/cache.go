// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"golang.org/x/sync/singleflight"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/intern"
)

// A Cache shares programs with equal keys while the programs are in use. The zero value is ready
// for use. A Cache is safe for concurrent use.
type Cache[P any] struct {
	programs intern.Pool[Digest, P]
	// compilations holds the compilations in progress, so that other callers wait for them: the
	// admission plugin and the status controller often compile the same policy at the same time.
	compilations singleflight.Group
}

// Program returns the program with the given key. If no such program is in use, it calls compile,
// once for concurrent calls with the same key. Errors of compile are not cached.
func (c *Cache[P]) Program(key Digest, compile func() (*P, *apiservercel.Error)) (*P, *apiservercel.Error) {
	if program := c.programs.Find(key); program != nil {
		return program, nil
	}
	compiled, err, _ := c.compilations.Do(string(key[:]), func() (any, error) {
		// A compilation in another goroutine may have ended since the first lookup.
		if program := c.programs.Find(key); program != nil {
			return program, nil
		}
		program, err := compile()
		if err != nil {
			return nil, err
		}
		c.programs.Add(key, program)
		return program, nil
	})
	if err != nil {
		return nil, err.(*apiservercel.Error)
	}
	return compiled.(*P), nil
}
