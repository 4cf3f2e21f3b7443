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
// types.DefaultTypeAdapter returns for the output of runtime.DefaultUnstructuredConverter.
// Expressions cannot tell the two apart, but OfUnstructured converts only parts that are
// compared, concatenated or converted, and reads all others from the object.
//
// A part that cannot be converted is a CEL error where it is used, whereas the converter fails
// for the whole object. OfUnstructured returns null for nil. It is safe for concurrent use; the
// value that it returns is not.
func OfUnstructured(object any) ref.Val { return unstructuredPlans.of(object) }

// unstructured converts a Go value as runtime.DefaultUnstructuredConverter does.
func unstructured(object reflect.Value) (any, error) {
	pointer := reflect.New(object.Type())
	pointer.Elem().Set(object)
	// The converter takes only structs.
	holder := struct {
		Value any `json:"value"`
	}{pointer.Interface()}
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&holder)
	if err != nil {
		return nil, err
	}
	return converted["value"], nil
}

// converted returns the unstructured form of a value for which IsGo is true, as a list or map
// of cel-go, or a CEL error if a part cannot be converted.
func converted(typed ref.Val) ref.Val {
	value, err := Unstructured(typed)
	if err != nil {
		return types.WrapErr(err)
	}
	return value
}
