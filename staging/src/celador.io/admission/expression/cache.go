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

// cache has the programs that are in use, so that policies with equal expressions share
// them. Safe for concurrent use.
type cache struct {
	programs intern.Pool[digest, Program]
	lock     sync.Mutex
	// compiling are the compilations that have not ended yet. The plugin and the status
	// controller learn of a policy at the same time.
	compiling map[digest]*compilation
}

// compilation is locked until it has ended.
type compilation struct {
	sync.Mutex
	ended   bool
	program *Program
	err     *apiservercel.Error
}

// program returns the program with a key or, if nobody uses one, what compile returns.
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
	// Another compilation may have ended since.
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

// join returns the compilation for a key, locked, and whether it is that of others, who have
// ended it or panicked.
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

// digest is a collision-resistant hash. It stands for a text of any length, such as all
// variables of a policy: the key of each expression has the same size, however many
// variables are in scope.
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

// typeOf writes a type with its parameters, in time that is linear in its size.
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

// newCacheKey returns a key of all that a program depends on. The scope is the digest of
// the variables.
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
// 'variables' at all has the zero digest.
var noVariables = digest(sha256.Sum256([]byte(Variables)))

// with returns the scope that has one more variable.
func (scope digest) with(name string, t *cel.Type) digest {
	d := newDigester()
	d.Write(scope[:])
	d.text(name)
	d.typeOf(t)
	return d.sum()
}
