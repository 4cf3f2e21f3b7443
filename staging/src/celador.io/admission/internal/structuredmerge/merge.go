// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package structuredmerge merges apply configurations into objects of built-in types. The results
// are equal to those of sigs.k8s.io/structured-merge-diff, which converts the whole object and
// takes many times as long.
package structuredmerge

import (
	"maps"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/cel/values"
)

// Merge merges an apply configuration into a copy of an object. s describes how configurations
// merge into objects of the type. Merge visits only the fields of the configuration: the result
// shares all others with the object, which it does not change.
//
// Merge returns nil for objects and configurations that it does not support, such as configurations
// with nulls, empty maps, atomic lists or errors, or with more than about maxBytes of JSON. The
// caller then uses structured-merge-diff.
func Merge(object runtime.Object, s *Shape, configuration *constructed.Object, maxBytes int) *Merged {
	original := reflect.ValueOf(object).Elem()
	if !stable(original) {
		return nil
	}
	copied := reflect.New(original.Type())
	copied.Elem().Set(original)
	m := &merger{maxBytes: maxBytes}
	if !m.mergeRoot(&s.shape, copied.Elem(), configuration) {
		return nil
	}
	return &Merged{copied.Interface().(runtime.Object), m.changed, m.bytes}
}

// A Merged is a merged object.
type Merged struct {
	Object runtime.Object
	// Changed reports whether Object differs from the original.
	Changed bool
	// Bytes estimates the size of the configuration in JSON. It counts the length of texts,
	// ScalarBytes for each other value, and SeparatorBytes for each name and element.
	Bytes int
}

// ScalarBytes is what Merged.Bytes counts for a value other than text, and SeparatorBytes what it
// counts for the punctuation of a name or an element.
const (
	ScalarBytes    = 4
	SeparatorBytes = 3
)

// A merger merges one configuration. Its methods return false for a value that they do not support;
// Merge then returns nil, and drops what was merged before. They copy maps, slices and the targets
// of pointers before they write to them, because the original object shares them.
type merger struct {
	changed         bool
	bytes, maxBytes int
}

// A place describes where a value is in a configuration: in a field of an object with the type name
// owner, directly or in lists and maps below the field.
type place struct {
	owner, field string
	// literal is set inside a list or map literal of the expression. Only scalars and constructed
	// objects are merged there: other lists and maps in literals become values in Kubernetes that
	// no schema accepts.
	literal bool
}

// mergeRoot merges a whole configuration, whose apiVersion and kind are ignored.
func (m *merger) mergeRoot(s *shape, into reflect.Value, configuration *constructed.Object) bool {
	if s.fields == nil {
		return false
	}
	name := configuration.TypeName()
	m.bytes += ScalarBytes
	for field, v := range configuration.Fields() {
		if field == "apiVersion" || field == "kind" {
			if _, ok := v.(types.String); !ok {
				return false
			}
			m.bytes += len(field) + SeparatorBytes + scalarSize(v)
		} else if !m.mergeField(s, into, field, v, place{owner: name, field: field}) {
			return false
		}
	}
	return true
}

// scalarSize returns the approximate size of a scalar in JSON.
func scalarSize(v ref.Val) int {
	if text, ok := v.(types.String); ok {
		return len(text)
	}
	return ScalarBytes
}

// merge merges a value of the configuration into a field of the copied object.
func (m *merger) merge(s *shape, into reflect.Value, v ref.Val, at place) bool {
	if s.pointed != nil {
		return m.mergePointer(s.pointed, into, v, at)
	}
	if m.bytes > m.maxBytes {
		return false
	}
	switch v := v.(type) {
	case types.String, types.Int, types.Bool, types.Double:
		m.bytes += scalarSize(v)
		return s.scalar != nil && m.setScalar(s.scalar, into, v)
	case *constructed.Object:
		return m.mergeObject(s, into, v, at)
	case traits.Lister:
		return s.list != nil && !at.literal && m.mergeList(s.list, into, v, at)
	case traits.Mapper:
		return !at.literal && m.mergeEntries(s, into, v, at)
	default:
		return false
	}
}

func (m *merger) mergePointer(pointed *shape, into reflect.Value, v ref.Val, at place) bool {
	target := reflect.New(into.Type().Elem())
	absent := into.IsNil()
	if !absent {
		target.Elem().Set(into.Elem())
	}
	if !m.merge(pointed, target.Elem(), v, at) {
		return false
	}
	m.changed = m.changed || absent
	into.Set(target)
	return true
}

// mergeObject merges an object that the expression constructed. It supports only objects whose type
// is named after the path of the field, such as Object.spec for the field spec.
func (m *merger) mergeObject(s *shape, into reflect.Value, object *constructed.Object, at place) bool {
	name := object.TypeName()
	if len(name) != len(at.owner)+1+len(at.field) || name[:len(at.owner)] != at.owner || name[len(at.owner)] != '.' || name[len(at.owner)+1:] != at.field {
		return false
	}
	fields := object.Fields()
	if len(fields) == 0 || !m.open(s, into) {
		return false
	}
	for field, v := range fields {
		if !m.mergeField(s, into, field, v, place{owner: name, field: field}) {
			return false
		}
	}
	return true
}

// mergeEntries merges a map of the configuration into a struct or a map.
func (m *merger) mergeEntries(s *shape, into reflect.Value, entries traits.Mapper, at place) bool {
	if literal, ok := values.LiteralEntries(entries); ok {
		at.literal = true
		if len(literal) == 0 || !m.open(s, into) {
			return false
		}
		for key, v := range literal {
			if name, ok := key.(types.String); !ok || !m.mergeField(s, into, string(name), v, at) {
				return false
			}
		}
		return true
	}
	if entries.Size() == types.IntZero || !m.open(s, into) {
		return false
	}
	for it := entries.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		if name, ok := key.(types.String); !ok || !m.mergeField(s, into, string(name), entries.Get(key), at) {
			return false
		}
	}
	return true
}

// open prepares a struct or map of the copied object for writes by mergeField. It copies a map,
// which the original still refers to; a struct is a part of the copy. Callers do not merge empty
// configurations, because structured-merge-diff keeps some of them and drops others.
func (m *merger) open(s *shape, into reflect.Value) bool {
	m.bytes += ScalarBytes
	if s.entries != nil {
		copyMap(into)
	}
	return s.fields != nil || s.entries != nil
}

func copyMap(into reflect.Value) {
	if texts, ok := into.Addr().Interface().(*map[string]string); ok {
		copied := make(map[string]string, len(*texts)+1)
		maps.Copy(copied, *texts)
		*texts = copied
		return
	}
	copied := reflect.MakeMapWithSize(into.Type(), into.Len()+1)
	key, element := reflect.New(into.Type().Key()).Elem(), reflect.New(into.Type().Elem()).Elem()
	for entries := into.MapRange(); entries.Next(); {
		key.SetIterKey(entries)
		element.SetIterValue(entries)
		copied.SetMapIndex(key, element)
	}
	into.Set(copied)
}

// mergeField merges a value into a field of a struct, or under a key of a map that open has copied.
func (m *merger) mergeField(s *shape, into reflect.Value, name string, v ref.Val, at place) bool {
	m.bytes += len(name) + SeparatorBytes
	if s.fields != nil {
		field, known := s.fields[name]
		return known && m.merge(field.shape, into.FieldByIndex(field.index), v, at)
	}
	key := reflect.ValueOf(name).Convert(into.Type().Key())
	element := reflect.New(into.Type().Elem()).Elem()
	existing := into.MapIndex(key)
	if existing.IsValid() {
		element.Set(existing)
	}
	if !m.merge(s.entries, element, v, at) {
		return false
	}
	m.changed = m.changed || !existing.IsValid()
	into.SetMapIndex(key, element)
	return true
}
