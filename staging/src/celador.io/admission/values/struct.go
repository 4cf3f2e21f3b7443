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

// structValue is a struct, which CEL sees as a map.
type structValue struct {
	plan   *plan
	object reflect.Value
	// first are the fields that were read first, of which there are count.
	first [2]child
	count int
	more  *more
}

// more is what most structs do not need.
type more struct {
	// children are the other fields that were read. There are few: finding one by
	// comparing names is faster than by hashing.
	children []child
	keys     []ref.Val
}

type child struct {
	name string
	// value is nil if the field is omitted.
	value ref.Val
}

// Find implements traits.Mapper. A key that cannot be one is found to be an error.
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
	if s.more != nil {
		for i := range s.more.children {
			if c := &s.more.children[i]; c.name == name {
				return c.value, c.value != nil
			}
		}
	}
	i, ok := s.plan.index[name]
	if !ok {
		return nil, false
	}
	f := &s.plan.fields[i]
	c := child{name: f.JsonName}
	if v := f.GetFrom(s.object); !f.CanOmit(v) {
		c.value = f.plan.value(v)
	}
	if s.count < len(s.first) {
		s.first[s.count] = c
		s.count++
	} else {
		others := s.others()
		others.children = append(others.children, c)
	}
	return c.value, c.value != nil
}

func (s *structValue) others() *more {
	if s.more == nil {
		s.more = &more{}
	}
	return s.more
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

// present returns the JSON names of the fields that are not omitted, in order.
func (s *structValue) present() []ref.Val {
	others := s.others()
	if others.keys == nil {
		others.keys = make([]ref.Val, 0, len(s.plan.fields))
		for i := range s.plan.fields {
			f := &s.plan.fields[i]
			if !f.CanOmit(f.GetFrom(s.object)) {
				others.keys = append(others.keys, f.key)
			}
		}
	}
	return others.keys
}

// Size implements traits.Sizer.
func (s *structValue) Size() ref.Val { return types.Int(len(s.present())) }

// Iterator implements traits.Iterable. It goes over the keys in order.
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

// ConvertToNative implements ref.Val. A struct is only ever itself, or JSON.
func (s *structValue) ConvertToNative(to reflect.Type) (any, error) {
	if to == jsonValueType {
		return jsonValue(s.object)
	}
	if from := s.object.Type(); !from.AssignableTo(to) {
		return nil, fmt.Errorf("type conversion error from struct type %v to %v", from, to)
	}
	return s.Value(), nil
}
