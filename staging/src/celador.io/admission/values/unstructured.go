// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime"
)

// OfUnstructured returns the CEL value of the unstructured form of an object: the value that
// types.DefaultTypeAdapter has for what runtime.DefaultUnstructuredConverter makes of the
// object. Expressions cannot tell the two apart, but OfUnstructured converts only those parts
// of the object that are compared, added up or converted; other parts are read from the object.
//
// A part that cannot be converted is a CEL error where it is used; the converter, in contrast,
// then has no value for the whole object. Of nil, the value is null. Not safe for concurrent
// use, except that OfUnstructured itself is.
func OfUnstructured(object any) ref.Val { return unstructuredPlans.of(object) }

// unstructured returns what runtime.DefaultUnstructuredConverter makes of a Go value: maps,
// lists and scalars of which an unstructured object consists.
func unstructured(object reflect.Value) (any, error) {
	pointer := reflect.New(object.Type())
	pointer.Elem().Set(object)
	// The converter takes structs only.
	holder := struct {
		Value any `json:"value"`
	}{pointer.Interface()}
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&holder)
	if err != nil {
		return nil, err
	}
	return converted["value"], nil
}

// converted returns the CEL value of the unstructured form of a value that shows a Go object:
// a map or list of cel-go's, or an error.
func converted(typed ref.Val) ref.Val {
	value, err := Unstructured(typed)
	if err != nil {
		return types.WrapErr(err)
	}
	return value
}
