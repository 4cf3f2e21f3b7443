// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/types/known/structpb"
)

// jsonValueType is the type of CEL values converted to JSON.
var jsonValueType = reflect.TypeFor[*structpb.Value]()

// Unstructured deep-copies a value for which IsTyped is true into maps, lists and scalars as in an
// unstructured object. It returns an error if a part has no JSON form.
func Unstructured(v ref.Val) (ref.Val, error) {
	content, err := unstructured(reflect.ValueOf(v.Value()))
	if err != nil {
		return nil, err
	}
	return types.DefaultTypeAdapter.NativeToValue(content), nil
}

// IsTyped reports whether a value is a view that Of returned. Such a view converts to JSON as a
// whole.
func IsTyped(v ref.Val) bool {
	switch v.(type) {
	case *listValue, *mapValue, *structValue:
		return true
	default:
		return false
	}
}

// IsView reports whether a value is a view that Of, OfUnstructured or Schema.Value returned. A view is
// a tree: it contains no part twice.
func IsView(v ref.Val) bool {
	switch v.(type) {
	case *unstructuredList, *unstructuredMap, *schemaList, *schemaSet, *schemaMapList, *schemaMap:
		return true
	default:
		return IsTyped(v)
	}
}

// Data returns the Go value that a view reads, and false for values that are not views. It fills no cache of the view.
func Data(v ref.Val) (any, bool) {
	switch v := v.(type) {
	case *listValue:
		return v.object.Interface(), true
	case *mapValue:
		return v.object.Interface(), true
	case *structValue:
		return v.object.Interface(), true
	case *unstructuredList:
		return Data(v.typed)
	case *unstructuredMap:
		return Data(v.typed)
	case *schemaMap:
		return v.entries, true
	case *schemaList:
		return v.elements, true
	case *schemaSet:
		return v.elements, true
	case *schemaMapList:
		return v.elements, true
	default:
		return nil, false
	}
}

func jsonValue(object reflect.Value) (any, error) {
	content, err := unstructured(object)
	if err != nil {
		return nil, err
	}
	return types.DefaultTypeAdapter.NativeToValue(content).ConvertToNative(jsonValueType)
}
