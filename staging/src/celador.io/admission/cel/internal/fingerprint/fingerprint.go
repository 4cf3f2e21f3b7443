// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"hash/maphash"
	"math"
	"reflect"
	"unsafe"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/cel/values"
)

var seed = maphash.MakeSeed()

// Of returns a hash of everything that a value refers to, including unexported fields, the spare
// capacity of slices, and how a quantity is represented in memory. It leaves out what views and
// quantities cache. Of does not change the value. It returns another hash in another process.
func Of(v ref.Val) uint64 {
	w := walker{seen: map[visit]bool{}}
	w.SetSeed(seed)
	w.walk(reflect.ValueOf(v))
	return w.Sum64()
}

type walker struct {
	maphash.Hash
	seen map[visit]bool
}

// A visit is a pointer that a walker has followed.
type visit struct {
	to reflect.Type
	at uintptr
}

func (w *walker) walk(v reflect.Value) {
	if !v.IsValid() {
		w.number(0)
		return
	}
	w.number(uint64(v.Kind()))
	switch v.Kind() {
	default: // bools, integers and strings
		maphash.WriteComparable(&w.Hash, v.Interface())
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
	case reflect.Float32, reflect.Float64:
		w.number(math.Float64bits(v.Float()))
	case reflect.Array:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Slice:
		w.number(uint64(v.Len()))
		whole := v.Slice(0, v.Cap())
		for i := range whole.Len() {
			w.walk(whole.Index(i))
		}
	case reflect.Interface:
		w.walk(v.Elem())
	case reflect.Pointer:
		w.follow(v)
	case reflect.Map:
		w.entries(v)
	case reflect.Struct:
		w.fields(v)
	}
}

func (w *walker) number(n uint64) { maphash.WriteComparable(&w.Hash, n) }

// follow walks what a pointer refers to: for a view, the Go value that it reads.
func (w *walker) follow(pointer reflect.Value) {
	at := visit{pointer.Type(), pointer.Pointer()}
	if pointer.IsNil() || w.seen[at] {
		return
	}
	w.seen[at] = true
	if v, ok := pointer.Interface().(ref.Val); ok {
		if data, isView := values.Data(v); isView {
			w.walk(reflect.ValueOf(data))
			return
		}
	}
	w.walk(pointer.Elem())
}

// fields walks the fields of a struct. It copies a struct that is not addressable, because
// reflection reads unexported fields through their addresses only.
func (w *walker) fields(v reflect.Value) {
	if !v.CanAddr() {
		addressable := reflect.New(v.Type()).Elem()
		addressable.Set(v)
		v = addressable
	}
	for i := range v.NumField() {
		field := v.Field(i)
		switch {
		case v.Type() == reflect.TypeFor[resource.Quantity]() && v.Type().Field(i).Name == "s":
			continue // the text of the quantity
		case field.Type() == reflect.TypeFor[types.Adapter]():
			continue // the registry of all types
		case field.Type() == reflect.TypeFor[authorizer.UnconditionalAuthorizer]():
			continue // belongs to the host
		}
		w.walk(reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem())
	}
}

// entries walks the entries of a map, whose order does not count.
func (w *walker) entries(m reflect.Value) {
	sum := uint64(m.Len())
	for i := m.MapRange(); i.Next(); {
		entry := walker{seen: w.seen}
		entry.SetSeed(seed)
		entry.walk(i.Key())
		entry.walk(i.Value())
		sum += entry.Sum64()
	}
	w.number(sum)
}
