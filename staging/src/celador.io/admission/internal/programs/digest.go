// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/google/cel-go/cel"
)

// A Digest is a collision-resistant hash of a text of any length, such as all variables of a
// policy. Cache keys of expressions therefore have the same size, however many variables are
// declared.
type Digest [sha256.Size]byte

// A Digester hashes strings and numbers so that different sequences have different digests.
type Digester struct{ hash.Hash }

// NewDigester returns an empty digester.
func NewDigester() Digester { return Digester{sha256.New()} }

// Number adds a number.
func (d Digester) Number(n int) {
	var encoded [8]byte
	binary.LittleEndian.PutUint64(encoded[:], uint64(n))
	d.Write(encoded[:])
}

// Text adds a string.
func (d Digester) Text(s string) {
	d.Number(len(s))
	d.Write([]byte(s))
}

// Flag adds a bool.
func (d Digester) Flag(set bool) {
	n := 0
	if set {
		n = 1
	}
	d.Number(n)
}

// Type adds a type and its parameters, in time linear in the size of the type.
func (d Digester) Type(t *cel.Type) {
	d.Number(int(t.Kind()))
	d.Text(t.TypeName())
	d.Number(len(t.Parameters()))
	for _, parameter := range t.Parameters() {
		d.Type(parameter)
	}
}

// Digest returns the digest of everything that was added.
func (d Digester) Digest() (sum Digest) {
	d.Sum(sum[:0])
	return sum
}
