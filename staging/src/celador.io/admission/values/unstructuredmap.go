// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
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
	// typed is the value of the struct or map. Only strings are looked up in it.
	typed traits.Mapper
	// whole is the converted map, or an error; nil until it is needed.
	whole ref.Val
}

// noEntries is looked up for keys that are not strings, to get cel-go's result for such keys.
var noEntries = types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{})

func newUnstructuredStruct(p *plan, object reflect.Value) *unstructuredMap {
	// One allocation holds both values.
	made := &struct {
		unstructuredMap
		structValue
	}{structValue: structValue{plan: p, object: object}}
	made.unstructuredMap.typed = &made.structValue
	return &made.unstructuredMap
}

func (m *unstructuredMap) convert() ref.Val {
	if m.whole == nil {
		m.whole = converted(m.typed)
	}
	return m.whole
}

// entries returns the map in which a key is looked up.
func (m *unstructuredMap) entries(key ref.Val) traits.Mapper {
	if _, ok := key.(types.String); !ok {
		return noEntries
	}
	if whole, ok := m.whole.(traits.Mapper); ok {
		return whole
	}
	return m.typed
}

// Find implements traits.Mapper.
func (m *unstructuredMap) Find(key ref.Val) (ref.Val, bool) { return m.entries(key).Find(key) }

// Get implements traits.Indexer.
func (m *unstructuredMap) Get(key ref.Val) ref.Val { return m.entries(key).Get(key) }

// Contains implements traits.Container.
func (m *unstructuredMap) Contains(key ref.Val) ref.Val { return m.entries(key).Contains(key) }

// Size implements traits.Sizer.
func (m *unstructuredMap) Size() ref.Val { return m.typed.Size() }

// IsZeroValue implements traits.Zeroer.
func (m *unstructuredMap) IsZeroValue() bool { return m.Size() == types.IntZero }

// Iterator implements traits.Iterable. It returns the keys in order.
func (m *unstructuredMap) Iterator() traits.Iterator { return m.typed.Iterator() }

// Equal implements ref.Val.
func (m *unstructuredMap) Equal(other ref.Val) ref.Val {
	if _, ok := other.(traits.Mapper); !ok {
		return types.False
	}
	return m.convert().Equal(other)
}

// Type implements ref.Val.
func (m *unstructuredMap) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (m *unstructuredMap) Value() any { return m.convert().Value() }

// ConvertToType implements ref.Val.
func (m *unstructuredMap) ConvertToType(to ref.Type) ref.Val {
	if to == types.MapType {
		return m
	}
	return m.convert().ConvertToType(to)
}

// ConvertToNative implements ref.Val.
func (m *unstructuredMap) ConvertToNative(to reflect.Type) (any, error) {
	return m.convert().ConvertToNative(to)
}

// String implements fmt.Stringer.
func (m *unstructuredMap) String() string { return fmt.Sprint(m.convert()) }
