// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/equality"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

var _ traits.Mapper = (*schemaMap)(nil)

// A schemaMap is the view of an unstructured object with a schema of type object.
type schemaMap struct {
	*layout
	entries map[string]any
	cache   childCache[string]
}

// property returns the schema of an entry, by its unescaped name. It returns nil for unknown
// fields, which expressions cannot read.
func (m *schemaMap) property(name string) *Schema {
	if field, ok := m.fields[name]; ok {
		return field
	}
	return m.elem
}

// Find implements traits.Mapper. For a key that is not a string, it returns an error and true, as
// Kubernetes' conversion does.
func (m *schemaMap) Find(key ref.Val) (ref.Val, bool) {
	k, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	name := string(k)
	if m.fields != nil && strings.Contains(name, "__") {
		if name, ok = apiservercel.Unescape(name); !ok {
			return nil, false
		}
	}
	return m.entry(name)
}

// entry returns the value of an entry, by its unescaped name.
func (m *schemaMap) entry(name string) (ref.Val, bool) {
	if v, cached := m.cache.find(name); cached {
		return v, v != nil
	}
	content, present := m.entries[name]
	schema := m.property(name)
	if !present || schema == nil || content == nil && m.fields != nil {
		m.cache.add(name, nil)
		return nil, false
	}
	v := schema.Value(content)
	// cel-go sets the position of an error when it first occurs, so each read needs its own.
	if !types.IsError(v) {
		m.cache.add(name, v)
	}
	return v, true
}

// Get implements traits.Indexer.
func (m *schemaMap) Get(key ref.Val) ref.Val {
	if v, found := m.Find(key); found {
		return v
	}
	return noSuchKey(key)
}

// Contains implements traits.Container.
func (m *schemaMap) Contains(key ref.Val) ref.Val {
	v, found := m.Find(key)
	if found && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

// Size implements traits.Sizer. It counts null and unknown fields.
func (m *schemaMap) Size() ref.Val { return types.Int(len(m.entries)) }

// Iterator implements traits.Iterable. It returns the escaped names of known fields, sorted, and
// then nil for each unknown field, as Kubernetes' conversion does.
func (m *schemaMap) Iterator() traits.Iterator {
	keys := m.cache.names(func() []ref.Val {
		keys := make([]ref.Val, 0, len(m.entries))
		for _, name := range slices.Sorted(maps.Keys(m.entries)) {
			if m.property(name) == nil {
				continue
			}
			if m.fields != nil {
				if escaped, ok := apiservercel.Escape(name); ok {
					name = escaped
				}
			}
			keys = append(keys, types.String(name))
		}
		return keys[:len(m.entries)]
	})
	return &keyIterator{m, keys}
}

// Equal implements ref.Val. A known field, which the schema describes, makes objects unequal if
// only one of them has it. An unknown field does so only if both have it, with different Go values.
func (m *schemaMap) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if m.Size() != o.Size() {
		return types.False
	}
	for name, content := range m.entries {
		if m.property(name) == nil {
			unknown, ok := other.(*schemaMap)
			if !ok {
				return types.MaybeNoSuchOverloadErr(other)
			}
			if otherContent, ok := unknown.entries[name]; ok && !equality.Semantic.DeepEqual(content, otherContent) {
				return types.False
			}
			continue
		}
		v, found := m.entry(name)
		otherValue, otherFound := entryOf(o, name)
		if found != otherFound {
			return types.False
		}
		if !found {
			continue
		}
		if equal := v.Equal(otherValue); equal != types.True {
			return equal
		}
	}
	return types.True
}

// entryOf returns the value of an entry of any map, by its unescaped name. Unlike Kubernetes'
// conversion, it does not unescape the name of an entry such as a__b, which would name another
// entry or none.
func entryOf(m traits.Mapper, name string) (ref.Val, bool) {
	if object, ok := m.(*schemaMap); ok {
		return object.entry(name)
	}
	return m.Find(types.String(name))
}

// Type implements ref.Val.
func (m *schemaMap) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (m *schemaMap) Value() any { return m.entries }

// ConvertToType implements ref.Val.
func (m *schemaMap) ConvertToType(to ref.Type) ref.Val { return convertToType(m, types.MapType, to) }

// ConvertToNative implements ref.Val. It returns the Go map itself for every map type, as
// Kubernetes' conversion does.
func (m *schemaMap) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() != reflect.Map {
		return nil, fmt.Errorf("type conversion error from '%s' to '%s'", types.MapType, to)
	}
	return m.entries, nil
}
