// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

var (
	_ traits.Mapper = (*unstructuredMap)(nil)
	_ traits.Zeroer = (*unstructuredMap)(nil)
)

// unstructuredMap is the CEL value of the unstructured form of a struct or map.
type unstructuredMap struct {
	// typed is the view of the struct or map. Only keys that are strings are looked up in typed.
	conversion[traits.Mapper]
}

// noEntries is a map of cel-go. Keys that are not strings are looked up in it, which gives cel-go's
// result for such keys.
var noEntries = types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{})

func newUnstructuredMap(elem *plan, object reflect.Value) *unstructuredMap {
	return &unstructuredMap{conversion[traits.Mapper]{typed: &mapValue{elem: elem, object: object}}}
}

func newUnstructuredStruct(p *plan, object reflect.Value) *unstructuredMap {
	// One allocation holds both views.
	both := &struct {
		unstructuredMap
		structValue
	}{structValue: structValue{plan: p, object: object}}
	both.typed = &both.structValue
	return &both.unstructuredMap
}

// entriesFor returns the map in which a key is looked up: the converted map, or the typed view
// before it is converted. For a key that is not a string, it returns noEntries.
func (m *unstructuredMap) entriesFor(key ref.Val) traits.Mapper {
	if _, ok := key.(types.String); !ok {
		return noEntries
	}
	if converted, ok := m.converted.(traits.Mapper); ok {
		return converted
	}
	return m.typed
}

// Find implements traits.Mapper.
func (m *unstructuredMap) Find(key ref.Val) (ref.Val, bool) { return m.entriesFor(key).Find(key) }

// Get implements traits.Indexer.
func (m *unstructuredMap) Get(key ref.Val) ref.Val { return m.entriesFor(key).Get(key) }

// Contains implements traits.Container.
func (m *unstructuredMap) Contains(key ref.Val) ref.Val { return m.entriesFor(key).Contains(key) }

// Iterator implements traits.Iterable. It returns the keys in order.
func (m *unstructuredMap) Iterator() traits.Iterator { return m.typed.Iterator() }

// Equal implements ref.Val.
func (m *unstructuredMap) Equal(other ref.Val) ref.Val {
	if _, ok := other.(traits.Mapper); !ok {
		return types.False
	}
	return m.convert().Equal(other)
}

// ConvertToType implements ref.Val.
func (m *unstructuredMap) ConvertToType(to ref.Type) ref.Val {
	if to == types.MapType {
		return m
	}
	return m.convert().ConvertToType(to)
}
