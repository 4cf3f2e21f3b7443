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

// Unstructured deep-copies a value for which IsGo is true into maps, lists and scalars as in an
// unstructured object. It returns an error if a part has no JSON form.
func Unstructured(v ref.Val) (ref.Val, error) {
	content, err := unstructured(reflect.ValueOf(v.Value()))
	if err != nil {
		return nil, err
	}
	return types.DefaultTypeAdapter.NativeToValue(content), nil
}

// IsGo reports whether a value returned by Of is a list, map or struct. Such a value converts
// to JSON as a whole.
func IsGo(v ref.Val) bool {
	switch v.(type) {
	case *listValue, *mapValue, *structValue:
		return true
	default:
		return false
	}
}

// ShowsGo reports whether a value is a list, map or struct that Of or OfUnstructured returned.
// Such a value is a tree: it contains no part twice.
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
