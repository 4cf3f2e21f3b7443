// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"

	"github.com/google/cel-go/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/intern"
)

// cache holds the programs that are in use, so that policies with equal expressions share them.
// Safe for concurrent use.
type cache struct {
	programs intern.Pool[digest, Program]
	lock     sync.Mutex
	// compiling holds the compilations in progress. The plugin and the status controller
	// compile a policy at the same time.
	compiling map[digest]*compilation
}

// compilation is a compilation in progress. Its lock is held until it ends.
type compilation struct {
	sync.Mutex
	ended   bool
	program *Program
	err     *apiservercel.Error
}

// program returns the program with the given key. If no such program is in use, it calls
// compile, once for concurrent calls with the same key.
func (c *cache) program(key digest, compile func() (*Program, *apiservercel.Error)) (*Program, *apiservercel.Error) {
	if known := c.programs.Find(key); known != nil {
		return known, nil
	}
	compilation, others := c.join(key)
	defer compilation.Unlock()
	if others && compilation.ended {
		return compilation.program, compilation.err
	}
	defer c.leave(key)
	// Another compilation may have ended since the first lookup.
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

// join returns the locked compilation of a key, and whether another goroutine began it. That
// compilation has then ended, or panicked.
func (c *cache) join(key digest) (joined *compilation, others bool) {
	c.lock.Lock()
	joined, others = c.compiling[key]
	if others {
		c.lock.Unlock()
		joined.Lock()
		return joined, true
	}
	defer c.lock.Unlock()
	joined = &compilation{}
	joined.Lock()
	if c.compiling == nil {
		c.compiling = map[digest]*compilation{}
	}
	c.compiling[key] = joined
	return joined, false
}

func (c *cache) leave(key digest) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.compiling, key)
}

// digest is a collision-resistant hash of a text of any length, such as all variables of a
// policy. Cache keys of expressions therefore have the same size, however many variables are in
// scope.
type digest [sha256.Size]byte

// digester hashes strings and numbers so that different sequences have different digests.
type digester struct{ hash.Hash }

func newDigester() digester { return digester{sha256.New()} }

func (d digester) number(n int) {
	var encoded [8]byte
	binary.LittleEndian.PutUint64(encoded[:], uint64(n))
	d.Write(encoded[:])
}

func (d digester) text(s string) {
	d.number(len(s))
	d.Write([]byte(s))
}

func (d digester) flag(set bool) {
	n := 0
	if set {
		n = 1
	}
	d.number(n)
}

// typeOf hashes a type and its parameters, in time linear in the size of the type.
func (d digester) typeOf(t *cel.Type) {
	d.number(int(t.Kind()))
	d.text(t.TypeName())
	d.number(len(t.Parameters()))
	for _, parameter := range t.Parameters() {
		d.typeOf(parameter)
	}
}

func (d digester) sum() (sum digest) {
	d.Sum(sum[:0])
	return sum
}

// newCacheKey returns the digest of everything that a program depends on. scope is the digest
// of the variables.
func newCacheKey(scope digest, source string, in Declarations, origin environment.Type, returns []*cel.Type) digest {
	d := newDigester()
	d.Write(scope[:])
	d.text(source)
	d.flag(in.Params)
	d.flag(in.Authorizer)
	d.flag(in.Patches)
	d.text(string(origin))
	for _, t := range returns {
		d.typeOf(t)
	}
	return d.sum()
}

// noVariables is the scope of a policy without variables. A compiler that does not declare
// 'variables' has the zero digest as its scope.
var noVariables = digest(sha256.Sum256([]byte(Variables)))

// with returns the scope extended by one variable.
func (scope digest) with(name string, t *cel.Type) digest {
	d := newDigester()
	d.Write(scope[:])
	d.text(name)
	d.typeOf(t)
	return d.sum()
}
