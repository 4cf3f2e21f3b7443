// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package structuredmerge

import (
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// stable reports whether an object survives a conversion to unstructured content and back.
// Kubernetes converts the whole object whenever it merges an apply configuration, and Merge does
// not, so it supports only stable objects. The conversion turns empty maps and lists with omitempty
// into nil, which defaulting may depend on, and normalizes types with a JSON form of their own:
// 2000 in the format of "2Ki" becomes "2k", and the keys of managed fields and raw extensions are
// sorted.
//
// stable ignores differences that neither JSON nor defaulting shows, such as fractions of seconds.
func stable(object reflect.Value) bool {
	check := stabilityOf(object.Type())
	return check == nil || check(object)
}

// A stability is a function for the values of one Go type. It reports whether a value is stable: it
// survives a conversion to unstructured content and back. A nil stability stands for a type whose
// values are all stable.
type stability func(reflect.Value) bool

var stabilities sync.Map // reflect.Type -> stability

func stabilityOf(t reflect.Type) stability {
	if known, ok := stabilities.Load(t); ok {
		return known.(stability)
	}
	known := map[reflect.Type]stability{}
	check := makeStability(t, known)
	// Types may refer to each other, so none is published before all are complete.
	for t, check := range known {
		stabilities.Store(t, check)
	}
	return check
}

func makeStability(t reflect.Type, known map[reflect.Type]stability) stability {
	if check, ok := known[t]; ok {
		return check
	}
	// A recursive type refers to its own stability before that is complete. Until then, the
	// function stable takes its place, which looks up the complete one when it checks a value.
	known[t] = stable
	known[t] = newStability(t, known)
	return known[t]
}

func newStability(t reflect.Type, known map[reflect.Type]stability) stability {
	switch t {
	case reflect.TypeFor[corev1.ResourceList]():
		return func(v reflect.Value) bool { return stableResources(v.Interface().(corev1.ResourceList)) }
	case reflect.TypeFor[resource.Quantity]():
		return func(v reflect.Value) bool { return stableQuantity(as[resource.Quantity](v)) }
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return func(v reflect.Value) bool { return stableTime(as[time.Time](v.Field(0))) }
	case reflect.TypeFor[metav1.Duration](), reflect.TypeFor[intstr.IntOrString]():
		return nil
	}
	if hasCustomJSON(t) {
		return stableJSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return stablePointer(t, known)
	case reflect.Slice, reflect.Map:
		check := makeStability(t.Elem(), known)
		if check == nil {
			return nil
		}
		return func(v reflect.Value) bool {
			for _, element := range v.Seq2() {
				if !check(element) {
					return false
				}
			}
			return true
		}
	case reflect.Struct:
		return stableStruct(t, known)
	case reflect.Interface:
		return reflect.Value.IsNil
	default:
		return nil
	}
}

// as returns the Go value of v, which is of type T.
func as[T any](v reflect.Value) T {
	if v.CanAddr() {
		return *v.Addr().Interface().(*T) // without a copy
	}
	return v.Interface().(T)
}

func hasCustomJSON(t reflect.Type) bool {
	entry := value.TypeReflectEntryOf(t)
	return t.Kind() != reflect.Pointer && (entry.CanConvertToUnstructured() || entry.CanConvertFromUnstructured())
}

// stablePointer returns the stability of a pointer type. A pointer to a value that is null in
// JSON is not stable, because the conversion turns the pointer into nil.
func stablePointer(t reflect.Type, known map[reflect.Type]stability) stability {
	switch t.Elem().Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return reflect.Value.IsNil // no built-in type has such a field
	}
	check, custom := makeStability(t.Elem(), known), hasCustomJSON(t.Elem())
	if check == nil && !custom {
		return nil
	}
	return func(v reflect.Value) bool {
		return v.IsNil() || !(custom && nullInJSON(v.Elem())) && (check == nil || check(v.Elem()))
	}
}

func nullInJSON(v reflect.Value) bool {
	content, err := value.TypeReflectEntryOf(v.Type()).ToUnstructured(v)
	return err != nil || content == nil
}

// stableStruct returns the stability of a struct type. It checks only fields that may be
// unstable.
func stableStruct(t reflect.Type, known map[reflect.Type]stability) stability {
	type field struct {
		index      []int
		omitsEmpty bool
		check      stability
	}
	entries := value.TypeReflectEntryOf(t).Fields()
	indexes, ok := jsonFields(t)
	if !ok || len(indexes) != len(entries) {
		return func(reflect.Value) bool { return false } // merge does not support the type
	}
	var fields []field
	for name, entry := range entries {
		fieldType := entry.GetFrom(reflect.Zero(t)).Type()
		check := makeStability(fieldType, known)
		omitsEmpty := false
		switch fieldType.Kind() {
		case reflect.Map:
			omitsEmpty = entry.CanOmit(reflect.MakeMap(fieldType))
		case reflect.Slice:
			omitsEmpty = entry.CanOmit(reflect.MakeSlice(fieldType, 0, 0))
		}
		if check != nil || omitsEmpty {
			fields = append(fields, field{indexes[name], omitsEmpty, check})
		}
	}
	if fields == nil {
		return nil
	}
	return func(v reflect.Value) bool {
		for i := range fields {
			f := &fields[i]
			content := v.FieldByIndex(f.index)
			switch content.Kind() {
			case reflect.Map, reflect.Slice:
				if content.IsNil() {
					continue
				}
				if content.Len() == 0 && f.omitsEmpty {
					return false
				}
			}
			if f.check != nil && !f.check(content) {
				return false
			}
		}
		return true
	}
}

func stableResources(resources corev1.ResourceList) bool {
	for _, quantity := range resources {
		if !stableQuantity(quantity) {
			return false
		}
	}
	return true
}

// stableQuantity reports whether a quantity keeps its format when its text is parsed. Formats other
// than DecimalSI are lost if the number needs none of their suffixes.
func stableQuantity(q resource.Quantity) bool {
	if q.Format == resource.DecimalSI {
		return true
	}
	if n, ok := q.AsInt64(); ok && q.Format == resource.BinarySI && n%1024 == 0 {
		return true
	}
	text := q.String()
	parsed, err := resource.ParseQuantity(text)
	return err == nil && parsed.String() == text
}

// stableTime reports whether RFC 3339 can represent a time: its year has at most four digits.
func stableTime(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// stableJSON reports whether a value equals its decoded JSON.
func stableJSON(v reflect.Value) bool {
	entry := value.TypeReflectEntryOf(v.Type())
	original, decoded := reflect.New(v.Type()).Elem(), reflect.New(v.Type()).Elem()
	original.Set(v)
	content, err := entry.ToUnstructured(original)
	switch {
	case err != nil || !entry.CanConvertFromUnstructured():
		return false
	case content == nil:
		return v.IsZero()
	}
	err = entry.FromUnstructured(reflect.ValueOf(content), decoded)
	return err == nil && reflect.DeepEqual(original.Interface(), decoded.Interface())
}
