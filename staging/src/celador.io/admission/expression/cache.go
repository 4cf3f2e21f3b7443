// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/google/cel-go/cel"
	"golang.org/x/sync/singleflight"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/intern"
)

// cache has the programs that are in use, so that policies with equal expressions share
// them. Safe for concurrent use.
type cache struct {
	programs intern.Pool[digest, Program]
	// compiling are the calls of compile that have not returned yet. The plugin and the status
	// controller learn of a policy at the same time.
	compiling singleflight.Group
}

// program returns the program with a key or, if nobody uses one, what compile returns.
func (c *cache) program(key digest, compile func() (*Program, *apiservercel.Error)) (*Program, *apiservercel.Error) {
	if known := c.programs.Find(key); known != nil {
		return known, nil
	}
	compiled, err, _ := c.compiling.Do(string(key[:]), func() (any, error) {
		if known := c.programs.Find(key); known != nil {
			return known, nil
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
	return compiled.(*Program), nil
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
