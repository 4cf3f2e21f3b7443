// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package interning makes custom resources share equal texts and managed fields, so that watch
// caches need less memory. The objects of a resource have the same field names, many of the same
// values, and mostly the same managed fields, which the garbage collector would have to follow in
// each of them.
package interning

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	// maxText is the length of the longest text that is shared. Longer ones seldom repeat.
	maxText = 64
	// maxNodes is the number of maps in the largest managed fields that are shared.
	maxNodes = 1000
)

var (
	seed   = maphash.MakeSeed()
	texts  = newRecent[any](1 << 14)
	fields = newRecent[map[string]any](1 << 8)
)

// Intern replaces the field names, short texts and managed fields of an object by equal ones of
// other objects. Managed fields (fieldsV1) must not be changed in place afterwards. Nobody does,
// since updates of unstructured objects set new ones. Intern is safe for concurrent use with
// different objects.
func Intern(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, entry := range entries {
		entry, _ := entry.(map[string]any)
		if owned, ok := entry["fieldsV1"].(map[string]any); ok {
			entry["fieldsV1"] = internFields(owned)
		}
	}
	internMap(object)
}

// Text returns a text that shares its memory with equal ones.
func Text(text string) string { return internText(text, nil).(string) }

func internMap(object map[string]any) {
	for name, value := range object {
		if name == "fieldsV1" {
			// The managed fields may be shared with other objects, so they must not be changed in
			// place.
			continue
		}
		// The assignment also replaces the name in the map by the shared one.
		object[Text(name)] = internValue(value)
	}
}

func internValue(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		internMap(typed)
	case []any:
		for i, item := range typed {
			typed[i] = internValue(item)
		}
	case string:
		return internText(typed, value)
	}
	return value
}

// internText returns a text, or an equal one of another object, as an interface value, so that the
// memory of the interface value is shared, too. value is the text as an interface value if the
// caller has one, or nil.
func internText(text string, value any) any {
	if len(text) > maxText {
		if value == nil {
			value = text
		}
		return value
	}
	hash := maphash.String(seed, text)
	if found := texts.get(hash); found != nil && (*found).(string) == text {
		return *found
	}
	if value == nil {
		value = text
	}
	texts.put(hash, value)
	return value
}

func internFields(owned map[string]any) map[string]any {
	nodes := 0
	hash := hashFields(owned, &nodes)
	if nodes > maxNodes {
		return owned
	}
	if found := fields.get(hash); found != nil && equalFields(*found, owned) {
		return *found
	}
	fields.put(hash, owned)
	return owned
}

// equalFields reports whether managed fields are equal. Their leaves are empty maps. Other leaves,
// which no server writes, count as different.
func equalFields(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		other, ok := b[name].(map[string]any)
		child, isMap := value.(map[string]any)
		if !ok || !isMap || !equalFields(child, other) {
			return false
		}
	}
	return true
}

// hashFields returns a hash of managed fields that does not depend on the order of a map. It
// increments nodes for each map in owned, including owned itself, so that the caller can leave
// managed fields that are too large to be shared as they are.
func hashFields(owned map[string]any, nodes *int) uint64 {
	*nodes++
	hash := uint64(len(owned))
	for name, value := range owned {
		child, _ := value.(map[string]any)
		hash += maphash.String(seed, name) * (2*hashFields(child, nodes) + 1)
	}
	return hash
}

// recent is a table of fixed size with values that were seen more than once. The hash of a value
// determines its place, and a value replaces the one that had its place before. So the table needs
// no lock, does not grow, and forgets what is rare. It is safe for concurrent use.
type recent[T any] struct {
	values []atomic.Pointer[T]
	// seen holds the hash of the last value that was not found in each place.
	seen []atomic.Uint64
}

func newRecent[T any](size int) *recent[T] {
	return &recent[T]{make([]atomic.Pointer[T], size), make([]atomic.Uint64, size)}
}

// get returns the value at the hash's place, or nil. The value may have another hash.
func (r *recent[T]) get(hash uint64) *T { return r.values[hash%uint64(len(r.values))].Load() }

// put offers a value that get did not return. It keeps the value only if the hash was also the last
// one that was offered at this place, so that rare values replace no common ones.
func (r *recent[T]) put(hash uint64, value T) {
	place := hash % uint64(len(r.values))
	if r.seen[place].Swap(hash) == hash {
		kept := value
		r.values[place].Store(&kept)
	}
}
