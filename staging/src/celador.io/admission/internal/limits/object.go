// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"reflect"
	"unsafe"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

// fieldsPosition is the index of the map of fields in dynamic.ObjectVal, or -1 if the struct
// has no such field.
var fieldsPosition = func() int {
	object := reflect.TypeFor[dynamic.ObjectVal]()
	for i := range object.NumField() {
		if object.Field(i).Type == reflect.TypeFor[map[string]ref.Val]() {
			return i
		}
	}
	return -1
}()

// fieldsOf returns the fields of a constructed object. It reads an unexported field, because
// the methods of ObjectVal convert the fields, which can take exponential time.
func fieldsOf(object *dynamic.ObjectVal) map[string]ref.Val {
	field := reflect.ValueOf(object).Elem().Field(fieldsPosition)
	return *(*map[string]ref.Val)(unsafe.Pointer(field.UnsafeAddr()))
}
