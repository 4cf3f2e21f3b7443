// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// stable reports whether an object of a built-in type stays as it is when it is converted to unstructured content and
// back. Kubernetes does so with the whole object whenever it merges an apply configuration. That turns empty maps and
// lists with omitempty into nil, which defaults may depend on, and writes anew what has a JSON of its own: 2000 in the
// format of "2Ki" becomes "2k", and the keys of managed fields and raw extensions are sorted.
//
// What neither JSON nor defaults show does not count, such as fractions of seconds.
func stable(object runtime.Object) bool {
	v := reflect.ValueOf(object).Elem()
	check := stabilityOf(v.Type())
	return check == nil || check(v)
}

// stability reports whether a value is stable. It is nil for types all values of which are.
type stability func(reflect.Value) bool

var stabilities sync.Map // of stability by reflect.Type

func stabilityOf(t reflect.Type) stability {
	if known, ok := stabilities.Load(t); ok {
		return known.(stability)
	}
	made := map[reflect.Type]stability{}
	check := makeStability(t, made)
	// Only now are those of types that refer to each other complete.
	for t, check := range made {
		stabilities.Store(t, check)
	}
	return check
}

func makeStability(t reflect.Type, made map[reflect.Type]stability) stability {
	if check, ok := made[t]; ok {
		return check
	}
	// A type that refers to itself asks again when there is a value.
	made[t] = func(v reflect.Value) bool {
		check := stabilityOf(v.Type())
		return check == nil || check(v)
	}
	made[t] = newStability(t, made)
	return made[t]
}

func newStability(t reflect.Type, made map[reflect.Type]stability) stability {
	switch t {
	case reflect.TypeFor[corev1.ResourceList]():
		return func(v reflect.Value) bool { return stableResources(v.Interface().(corev1.ResourceList)) }
	case reflect.TypeFor[resource.Quantity]():
		return func(v reflect.Value) bool { return stableQuantity(as[resource.Quantity](v)) }
	case reflect.TypeFor[metav1.Time]():
		return func(v reflect.Value) bool { return stableTime(as[metav1.Time](v).Time) }
	case reflect.TypeFor[metav1.MicroTime]():
		return func(v reflect.Value) bool { return stableTime(as[metav1.MicroTime](v).Time) }
	case reflect.TypeFor[metav1.Duration](), reflect.TypeFor[intstr.IntOrString]():
		return nil
	}
	if hasOwnJSON(t) {
		return stableJSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return stablePointer(t, made)
	case reflect.Slice:
		if check := makeStability(t.Elem(), made); check != nil {
			return func(v reflect.Value) bool {
				for i := range v.Len() {
					if !check(v.Index(i)) {
						return false
					}
				}
				return true
			}
		}
		return nil
	case reflect.Map:
		if check := makeStability(t.Elem(), made); check != nil {
			return func(v reflect.Value) bool {
				for entries := v.MapRange(); entries.Next(); {
					if !check(entries.Value()) {
						return false
					}
				}
				return true
			}
		}
		return nil
	case reflect.Struct:
		return stableStruct(t, made)
	case reflect.Interface:
		return reflect.Value.IsNil
	default:
		return nil
	}
}

// as returns the Go value of v, which is of type T.
func as[T any](v reflect.Value) T {
	if v.CanAddr() {
		return *v.Addr().Interface().(*T) // takes no memory
	}
	return v.Interface().(T)
}

func hasOwnJSON(t reflect.Type) bool {
	entry := value.TypeReflectEntryOf(t)
	return t.Kind() != reflect.Pointer && (entry.CanConvertToUnstructured() || entry.CanConvertFromUnstructured())
}

// stablePointer knows that a pointer to what is null in JSON becomes nil.
func stablePointer(t reflect.Type, made map[reflect.Type]stability) stability {
	check := makeStability(t.Elem(), made)
	var null func(reflect.Value) bool
	switch t.Elem().Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		null = reflect.Value.IsNil
	default:
		if hasOwnJSON(t.Elem()) {
			null = nullInJSON
		}
	}
	if check == nil && null == nil {
		return nil
	}
	return func(v reflect.Value) bool {
		return v.IsNil() || (null == nil || !null(v.Elem())) && (check == nil || check(v.Elem()))
	}
}

func nullInJSON(v reflect.Value) bool {
	content, err := value.TypeReflectEntryOf(v.Type()).ToUnstructured(v)
	return err != nil || content == nil
}

// stableStruct has the fields that may be unstable.
func stableStruct(t reflect.Type, made map[reflect.Type]stability) stability {
	type field struct {
		*value.FieldCacheEntry
		check stability
	}
	var fields []field
	for _, entry := range value.TypeReflectEntryOf(t).OrderedFields() {
		fieldType := entry.GetFrom(reflect.Zero(t)).Type()
		check := makeStability(fieldType, made)
		omitsEmpty := false
		switch fieldType.Kind() {
		case reflect.Map:
			omitsEmpty = entry.CanOmit(reflect.MakeMap(fieldType))
		case reflect.Slice:
			omitsEmpty = entry.CanOmit(reflect.MakeSlice(fieldType, 0, 0))
		}
		if check != nil || omitsEmpty {
			fields = append(fields, field{entry, check})
		}
	}
	if fields == nil {
		return nil
	}
	return func(v reflect.Value) bool {
		for i := range fields {
			f := &fields[i]
			content := f.GetFrom(v)
			switch content.Kind() {
			case reflect.Map, reflect.Slice:
				if content.IsNil() {
					continue
				}
				if content.Len() == 0 && f.CanOmit(content) {
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

// stableQuantity knows that formats other than that of decimals get lost if the number does not need their suffixes.
func stableQuantity(q resource.Quantity) bool {
	if q.Format == resource.DecimalSI {
		return true
	}
	if n, ok := q.AsInt64(); ok && q.Format == resource.BinarySI && n%1024 == 0 {
		return true
	}
	text := q.String()
	again, err := resource.ParseQuantity(text)
	return err == nil && again.String() == text
}

// stableTime reports whether a time that is written in RFC 3339 can be read again.
func stableTime(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// stableJSON converts a value to and from its own JSON.
func stableJSON(v reflect.Value) bool {
	entry := value.TypeReflectEntryOf(v.Type())
	original, again := reflect.New(v.Type()).Elem(), reflect.New(v.Type()).Elem()
	original.Set(v)
	content, err := entry.ToUnstructured(original)
	switch {
	case err != nil || !entry.CanConvertFromUnstructured():
		return false
	case content == nil:
		return v.IsZero()
	}
	err = entry.FromUnstructured(reflect.ValueOf(content), again)
	return err == nil && reflect.DeepEqual(original.Interface(), again.Interface())
}
