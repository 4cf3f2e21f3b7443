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

// Struct is the type of views of Go structs, for type switches. The name of the type itself is part
// of error messages.
type Struct = structValue

// A structValue is the view of a struct, which CEL reads as a map.
type structValue struct {
	plan   *plan
	object reflect.Value
	// first holds the first count fields that were read.
	first [2]child
	count int
	cache *structCache
}

// A structCache holds the other cached parts of a struct. Most structs do not need one.
type structCache struct {
	// children holds the other fields that were read. Comparing a few names is faster than hashing
	// one.
	children []child
	keys     []ref.Val
}

// Find implements traits.Mapper. For a key that is not a string, it returns an error as found, as
// Kubernetes' conversion does.
func (s *structValue) Find(key ref.Val) (ref.Val, bool) {
	k, ok := key.(types.String)
	if !ok {
		return unsupportedKey(key), true
	}
	name := string(k)
	for i := range s.count {
		if c := &s.first[i]; c.name == name {
			return c.value, c.value != nil
		}
	}
	if s.cache != nil {
		for i := range s.cache.children {
			if c := &s.cache.children[i]; c.name == name {
				return c.value, c.value != nil
			}
		}
	}
	f := s.plan.index.find(s.plan.fields, name)
	if f == nil {
		return nil, false
	}
	// The same expression looks the field up with the same string, which then compares by its
	// address.
	c := child{name: name}
	if v := f.from(s.object); !f.CanOmit(v) {
		c.value = f.plan.value(v)
	}
	if s.count < len(s.first) {
		s.first[s.count] = c
		s.count++
	} else {
		cache := s.ensureCache()
		cache.children = append(cache.children, c)
	}
	return c.value, c.value != nil
}

func (s *structValue) ensureCache() *structCache {
	if s.cache == nil {
		s.cache = &structCache{}
	}
	return s.cache
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
	cache := s.ensureCache()
	if cache.keys == nil {
		cache.keys = make([]ref.Val, 0, len(s.plan.fields))
		for i := range s.plan.fields {
			f := &s.plan.fields[i]
			if !f.CanOmit(f.from(s.object)) {
				cache.keys = append(cache.keys, f.key)
			}
		}
	}
	return cache.keys
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
