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

// form says how values of a type look to CEL.
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
	// formMarshaler is for types that make their own JSON.
	formMarshaler
	formInterface
	formPointer
	formList
	formMap
	formStruct
)

// plan is how to read values of one type. Plans are immutable once they are published.
type plan struct {
	// set is the set that holds this plan and the plans of its parts.
	set   *planSet
	form  form
	entry *value.TypeReflectCacheEntry
	// elem is the plan of what a pointer, list or map holds.
	elem *plan
	// fields are those of a struct and of the structs inlined in it, by JSON name.
	fields []field
	index  map[string]int
}

type field struct {
	*value.FieldCacheEntry
	plan *plan
	// key is the JSON name.
	key ref.Val
}

// planSet caches a plan for each type. It never shrinks, because a program has a fixed number
// of types.
type planSet struct {
	plans sync.Map // reflect.Type -> *plan
	// unstructured is set if values have their unstructured form.
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
	made := map[reflect.Type]*plan{}
	p := s.makePlan(t, made)
	// Only now are all of them complete: types may refer to each other in circles.
	for t, p := range made {
		s.plans.Store(t, p)
	}
	return p
}

var intOrStringType = reflect.TypeFor[intstr.IntOrString]()

func (s *planSet) makePlan(t reflect.Type, made map[reflect.Type]*plan) *plan {
	if p, ok := s.plans.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := made[t]; ok {
		return p
	}
	p := &plan{set: s, entry: value.TypeReflectEntryOf(t)}
	p.form = s.formOf(t, p.entry)
	made[t] = p
	switch p.form {
	case formPointer, formList, formMap:
		p.elem = s.makePlan(t.Elem(), made)
	case formStruct:
		fields, zero := p.entry.OrderedFields(), reflect.Zero(t)
		p.fields, p.index = make([]field, len(fields)), make(map[string]int, len(fields))
		for i, f := range fields {
			p.fields[i] = field{f, s.makePlan(f.GetFrom(zero).Type(), made), types.String(f.JsonName)}
			p.index[f.JsonName] = i
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
