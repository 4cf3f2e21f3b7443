// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// programs holds the programs in use.
var programs pool

// sharedProgram returns the program of rules for a type. It compiles them if no equal rules for an equal type are in use.
func sharedProgram(rules apiextensionsv1.ValidationRules, declared *apiservercel.DeclType) *program {
	key := newDigest(rules, declared)
	// The name of a type appears in the messages of the compiler. Users cannot rely on it, because it changes with the rules.
	return programs.get(key, func() *program { return compile(rules, declared, "selfType"+hex.EncodeToString(key[:8])) })
}

// A digest identifies rules and the type of their variables.
type digest [sha256.Size]byte

func newDigest(rules apiextensionsv1.ValidationRules, declared *apiservercel.DeclType) digest {
	d := digester{sha256.New(), nil}
	d.number(len(rules))
	for i := range rules {
		d.text(rules[i].Rule)
		d.text(rules[i].MessageExpression)
		d.flag(optional(&rules[i]))
	}
	d.declared(declared)
	return digest(d.hash.Sum(nil))
}

// A digester writes values so that unequal values have unequal bytes: texts and lists start with their length.
type digester struct {
	hash   hash.Hash
	buffer []byte
}

func (d *digester) number(n int) {
	d.buffer = binary.AppendUvarint(d.buffer[:0], uint64(n))
	d.hash.Write(d.buffer)
}

func (d *digester) text(s string) {
	d.buffer = append(binary.AppendUvarint(d.buffer[:0], uint64(len(s))), s...)
	d.hash.Write(d.buffer)
}

func (d *digester) flag(b bool) {
	if b {
		d.number(1)
	} else {
		d.number(0)
	}
}

// declared writes what the compiler sees of a type. It leaves out maximum sizes, which only estimates of costs depend on.
func (d *digester) declared(t *apiservercel.DeclType) {
	d.flag(t != nil)
	if t == nil {
		return
	}
	d.text(t.TypeName())
	d.declared(t.KeyType)
	d.declared(t.ElemType)
	d.number(len(t.Fields))
	for _, name := range slices.Sorted(maps.Keys(t.Fields)) {
		d.text(name)
		d.declared(t.Fields[name].Type)
	}
}

// A pool holds programs by digest while they are in use. It is safe for concurrent use.
type pool struct {
	lock    sync.Mutex
	entries map[digest]weak.Pointer[pooled]
}

type pooled struct {
	once    sync.Once
	program program
}

// get returns the program of a digest. If none is in use, it adds the result of compile, which runs without the lock.
func (p *pool) get(key digest, compile func() *program) *program {
	shared := p.entry(key)
	shared.once.Do(func() { shared.program = *compile() })
	// The result points into the entry and keeps it in the pool.
	return &shared.program
}

func (p *pool) entry(key digest) *pooled {
	p.lock.Lock()
	defer p.lock.Unlock()
	if shared := p.entries[key].Value(); shared != nil {
		return shared
	}
	shared := &pooled{}
	if p.entries == nil {
		p.entries = map[digest]weak.Pointer[pooled]{}
	}
	p.entries[key] = weak.Make(shared)
	runtime.AddCleanup(shared, p.remove, key)
	return shared
}

// remove removes the entry of a program that was collected, unless it has been added anew.
func (p *pool) remove(key digest) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.entries[key].Value() == nil {
		delete(p.entries, key)
	}
}
