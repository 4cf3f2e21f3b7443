// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package constructed reads the objects that expressions construct, such as Object.spec{replicas: 5}.
// The methods of dynamic.ObjectVal convert or copy what they return, which can take exponential time
// for fields and allocates a type for a name. This package reads the unexported fields instead.
package constructed

import (
	"reflect"
	"unsafe"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

var (
	fieldsOffset = offsetOf(reflect.TypeFor[map[string]ref.Val]())
	typeOffset   = offsetOf(reflect.TypeFor[*types.Type]())
)

// offsetOf returns the offset of the field of dynamic.ObjectVal that has the given type. It panics if
// there is none, because a new version of k8s.io/apiserver needs a change here.
func offsetOf(field reflect.Type) uintptr {
	object := reflect.TypeFor[dynamic.ObjectVal]()
	for i := range object.NumField() {
		if object.Field(i).Type == field {
			return object.Field(i).Offset
		}
	}
	panic("dynamic.ObjectVal has no field of type " + field.String())
}

// Fields returns the fields of an object. The caller must not change the map.
func Fields(object *dynamic.ObjectVal) map[string]ref.Val {
	return *(*map[string]ref.Val)(unsafe.Add(unsafe.Pointer(object), fieldsOffset))
}

// TypeName returns the name of the type of an object, such as Object.spec.
func TypeName(object *dynamic.ObjectVal) string {
	return (*(**types.Type)(unsafe.Add(unsafe.Pointer(object), typeOffset))).TypeName()
}
