// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/equality"
)

var (
	_ traits.Mapper      = (*structValue)(nil)
	_ traits.FieldTester = (*structValue)(nil)
)

// Struct is the type of the views of Go structs, for type switches in other packages. It is an
// alias so that the type keeps the name structValue, which error messages of CEL contain.
type Struct = structValue

// A structValue is the view of a struct, which CEL reads as a map.
type structValue struct {
	plan   *plan
	object reflect.Value
	cache  childCache[uint16]
}

// Find implements traits.Mapper. For a key that is not a string, it returns an error and true, as
// Kubernetes' conversion does.
func (s *structValue) Find(key ref.Val) (ref.Val, bool) {
	k, ok := key.(types.String)
	if !ok {
		return unsupportedKey(key), true
	}
	v := s.child(s.plan.index[string(k)])
	return v, v != nil
}

// Select returns the value of a field, or nil if the struct omits the field or does not have it.
func (s *structValue) Select(name *FieldName) ref.Val { return s.child(name.of(s.plan)) }

// child returns the value of a field, or nil if it is omitted or f is nil.
func (s *structValue) child(f *field) ref.Val {
	if f == nil {
		return nil
	}
	v, cached := s.cache.find(f.position)
	if cached {
		return v
	}
	if field := f.GetFrom(s.object); !f.CanOmit(field) {
		v = f.plan.value(field)
	}
	s.cache.add(f.position, v)
	return v
}

// Get implements traits.Indexer.
func (s *structValue) Get(key ref.Val) ref.Val {
	v, found := s.Find(key)
	if !found {
		return noSuchKey(key)
	}
	return v
}

// Contains implements traits.Container.
func (s *structValue) Contains(key ref.Val) ref.Val {
	v, found := s.Find(key)
	if found && types.IsError(v) {
		return v
	}
	return types.Bool(found)
}

// IsSet implements traits.FieldTester.
func (s *structValue) IsSet(key ref.Val) ref.Val {
	v, found := s.Find(key)
	if found && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

// present returns the JSON names of the fields that are not omitted, in the order of JSON names.
func (s *structValue) present() []ref.Val {
	return s.cache.names(func() []ref.Val {
		keys := make([]ref.Val, 0, len(s.plan.fields))
		for i := range s.plan.fields {
			f := &s.plan.fields[i]
			if !f.CanOmit(f.GetFrom(s.object)) {
				keys = append(keys, f.key)
			}
		}
		return keys
	})
}

// Size implements traits.Sizer.
func (s *structValue) Size() ref.Val { return types.Int(len(s.present())) }

// Iterator implements traits.Iterable. It returns the keys in the order of present.
func (s *structValue) Iterator() traits.Iterator { return &keyIterator{s, s.present()} }

// Equal implements ref.Val. Two structs are compared as Go values, by what Kubernetes
// calls semantic equality.
func (s *structValue) Equal(other ref.Val) ref.Val {
	switch o := other.(type) {
	case *structValue:
		return types.Bool(equality.Semantic.DeepEqual(s.Value(), o.Value()))
	case traits.Mapper:
		return equalMaps(s, o)
	default:
		return types.MaybeNoSuchOverloadErr(other)
	}
}

// Type implements ref.Val.
func (s *structValue) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (s *structValue) Value() any { return s.object.Interface() }

// ConvertToType implements ref.Val.
func (s *structValue) ConvertToType(to ref.Type) ref.Val {
	switch to {
	case types.MapType:
		return s
	case types.TypeType:
		return types.MapType
	default:
		return types.NewErr("type conversion error from struct to %s", to.TypeName())
	}
}

// ConvertToNative implements ref.Val. A struct converts to its own type and to JSON.
func (s *structValue) ConvertToNative(to reflect.Type) (any, error) {
	if to == jsonValueType {
		return jsonValue(s.object)
	}
	if from := s.object.Type(); !from.AssignableTo(to) {
		return nil, fmt.Errorf("type conversion error from struct type %v to %v", from, to)
	}
	return s.Value(), nil
}
