// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

// A fieldIndex finds the fields of a struct by name. Policies look fields up so often that it pays
// not to hash the whole name, as a Go map does. It is immutable, so safe for concurrent use.
type fieldIndex struct {
	// first holds, for each hash, the position of a field plus one, or 0. next holds, for each
	// field, the same of the next field with its hash.
	first [64]int
	next  []int
}

func newFieldIndex(fields []field) *fieldIndex {
	x := &fieldIndex{next: make([]int, len(fields))}
	for i := range fields {
		// Of two fields with one name, the later one is found.
		h := hashName(fields[i].JsonName)
		x.next[i], x.first[h] = x.first[h], i+1
	}
	return x
}

// find returns the field with the given JSON name, or nil.
func (x *fieldIndex) find(fields []field, name string) *field {
	if name == "" {
		return nil
	}
	for i := x.first[hashName(name)]; i > 0; i = x.next[i-1] {
		if f := &fields[i-1]; f.JsonName == name {
			return f
		}
	}
	return nil
}

// hashName returns a number below 64. The name must not be empty.
func hashName(name string) int {
	return (len(name) + 5*int(name[0]) + 11*int(name[len(name)-1])) % 64
}
