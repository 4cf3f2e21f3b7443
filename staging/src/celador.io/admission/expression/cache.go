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

	"celador.io/admission/internal/intern"
)

// A cache shares programs between policies with equal expressions while the programs are in use. It
// is safe for concurrent use.
type cache struct {
	programs intern.Pool[digest, Program]
	lock     sync.Mutex
	// compiling holds the compilations in progress. The admission plugin and the status controller
	// often compile the same policy at the same time.
	compiling map[digest]*compilation
}

// A compilation is in progress while its lock is held.
type compilation struct {
	sync.Mutex
	ended   bool
	program *Program
	err     *apiservercel.Error
}

// program returns the program with the given key. If no such program is in use, it calls compile,
// once for concurrent calls with the same key.
func (c *cache) program(key digest, compile func() (*Program, *apiservercel.Error)) (*Program, *apiservercel.Error) {
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
func (c *cache) join(key digest) (joined *compilation, waited bool) {
	c.lock.Lock()
	joined, waited = c.compiling[key]
	if waited {
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

// A digest is a collision-resistant hash of a text of any length, such as all variables of a
// policy. Cache keys of expressions therefore have the same size, however many variables are
// declared.
type digest [sha256.Size]byte

// A digester hashes strings and numbers so that different sequences have different digests.
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

// newCacheKey returns the digest of everything that a program depends on. scope is the digest of
// the declared variables.
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
