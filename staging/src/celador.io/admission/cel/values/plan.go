// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// A form is the CEL representation of a Go type.
type form int

const (
	formUnsupported form = iota
	formBool
	formInt
	formUint
	formDouble
	formString
	formBytes
	formIntOrString
	// formTimestamp stands for Timestamp.
	formTimestamp
	// formMarshaler stands for other types with their own JSON encoding.
	formMarshaler
	formInterface
	formPointer
	formList
	formMap
	formStruct
)

// A plan describes how to read the values of one Go type, so that views need not inspect the type
// on each read. All views of the type share it. It does not change once planFor has stored it.
type plan struct {
	// set is the set that holds this plan and the plans of the types that it refers to.
	set   *planSet
	form  form
	entry *value.TypeReflectCacheEntry
	// elem is the plan of the element type of a pointer, list or map.
	elem *plan
	// fields holds the fields of a struct and of its inlined structs. index finds them by their
	// JSON names.
	fields []field
	index  map[string]*field
}

type field struct {
	*value.FieldCacheEntry
	// of is the plan of the struct, plan that of the field.
	of, plan *plan
	// position is the position of the field in of.fields.
	position uint16
	// key is the JSON name.
	key ref.Val
}

// A planSet caches one plan for each type. It never shrinks, because a program has a fixed number
// of types. It is safe for concurrent use.
type planSet struct {
	plans sync.Map // reflect.Type -> *plan
	// unstructured is set if views behave like unstructured objects.
	unstructured bool
}

var (
	typedPlans        = &planSet{}
	unstructuredPlans = &planSet{unstructured: true}
)

func (s *planSet) planFor(t reflect.Type) *plan {
	if p, ok := s.plans.Load(t); ok {
		return p.(*plan)
	}
	planned := map[reflect.Type]*plan{}
	p := s.makePlan(t, planned)
	// Types may refer to each other in cycles, so no plan is complete before all are.
	for t, p := range planned {
		s.plans.Store(t, p)
	}
	return p
}

var intOrStringType = reflect.TypeFor[intstr.IntOrString]()

func (s *planSet) makePlan(t reflect.Type, planned map[reflect.Type]*plan) *plan {
	if p, ok := s.plans.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := planned[t]; ok {
		return p
	}
	p := &plan{set: s, entry: value.TypeReflectEntryOf(t)}
	p.form = s.formOf(t, p.entry)
	planned[t] = p
	switch p.form {
	case formPointer, formList, formMap:
		p.elem = s.makePlan(t.Elem(), planned)
	case formStruct:
		fields, zero := p.entry.OrderedFields(), reflect.Zero(t)
		p.fields, p.index = make([]field, len(fields)), make(map[string]*field, len(fields))
		for i, f := range fields {
			p.fields[i] = field{f, p, s.makePlan(f.GetFrom(zero).Type(), planned), uint16(i), types.String(f.JsonName)}
			p.index[f.JsonName] = &p.fields[i]
		}
	}
	return p
}

func (s *planSet) formOf(t reflect.Type, entry *value.TypeReflectCacheEntry) form {
	switch {
	case t.Kind() == reflect.Interface:
		return formInterface
	case t == intOrStringType && !s.unstructured:
		return formIntOrString
	case t == timestampType:
		return formTimestamp
	case entry.CanConvertToUnstructured():
		return formMarshaler
	}
	switch t.Kind() {
	case reflect.Bool:
		return formBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return formInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return formUint
	case reflect.Float32, reflect.Float64:
		return formDouble
	case reflect.String:
		return formString
	case reflect.Pointer:
		return formPointer
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return formBytes
		}
		return formList
	case reflect.Map:
		return formMap
	case reflect.Struct:
		return formStruct
	default:
		return formUnsupported
	}
}
