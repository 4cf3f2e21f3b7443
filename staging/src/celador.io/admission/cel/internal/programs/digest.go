// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/google/cel-go/cel"
)

// A Digest is a collision-resistant hash of what a program depends on, such as its text or all
// variables of a policy. Cache keys that consist of digests have the same size, however many
// variables are declared.
type Digest [sha256.Size]byte

// A Digester hashes strings and numbers so that different sequences have different digests. It
// keeps them until Digest, because hashing many short texts one by one takes several times as long.
type Digester struct{ *bytes.Buffer }

// NewDigester returns an empty digester.
func NewDigester() Digester { return Digester{&bytes.Buffer{}} }

// Number adds a number.
func (d Digester) Number(n int) {
	d.Write(binary.LittleEndian.AppendUint64(d.AvailableBuffer(), uint64(n)))
}

// Text adds a string.
func (d Digester) Text(s string) {
	d.Number(len(s))
	d.WriteString(s)
}

// Flag adds a bool.
func (d Digester) Flag(set bool) { d.Text(strconv.FormatBool(set)) }

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
func (d Digester) Digest() Digest { return sha256.Sum256(d.Bytes()) }
