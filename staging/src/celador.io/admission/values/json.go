// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/types/known/structpb"
)

// jsonValueType is what every CEL value converts to that JSON can represent.
var jsonValueType = reflect.TypeFor[*structpb.Value]()

// Unstructured returns a value that IsGo is true for as a copy made of maps, lists and scalars,
// as an unstructured object has them.
func Unstructured(v ref.Val) (ref.Val, error) {
	content, err := unstructured(reflect.ValueOf(v.Value()))
	if err != nil {
		return nil, err
	}
	return types.DefaultTypeAdapter.NativeToValue(content), nil
}

// IsGo reports whether a value shows a Go list, map or struct. It converts to JSON with
// everything that it contains.
func IsGo(v ref.Val) bool {
	switch v.(type) {
	case *listValue, *mapValue, *structValue:
		return true
	default:
		return false
	}
}

// ShowsGo reports whether a value shows a Go list, map or struct in any form. Nothing in it
// occurs more than once.
func ShowsGo(v ref.Val) bool {
	switch v.(type) {
	case *unstructuredList, *unstructuredMap:
		return true
	default:
		return IsGo(v)
	}
}

func jsonValue(object reflect.Value) (any, error) {
	content, err := unstructured(object)
	if err != nil {
		return nil, err
	}
	return types.DefaultTypeAdapter.NativeToValue(content).ConvertToNative(jsonValueType)
}
