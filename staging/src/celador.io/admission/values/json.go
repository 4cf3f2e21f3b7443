// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// jsonValueType is what every CEL value converts to that JSON can represent.
var jsonValueType = reflect.TypeFor[*structpb.Value]()

// Unstructured returns what the JSON of a Go value decodes to: maps, lists and scalars of
// which an unstructured object is made.
func Unstructured(object reflect.Value) (any, error) {
	pointer := reflect.New(object.Type())
	pointer.Elem().Set(object)
	v, err := value.NewValueReflect(pointer.Interface())
	if err != nil {
		return nil, err
	}
	return v.Unstructured(), nil
}

// IsGo tells whether a value shows a list, a map or a struct of Go, which converts to JSON
// with all that is in it.
func IsGo(v ref.Val) bool {
	switch v.(type) {
	case *listValue, *mapValue, *structValue:
		return true
	default:
		return false
	}
}

func jsonValue(object reflect.Value) (any, error) {
	content, err := Unstructured(object)
	if err != nil {
		return nil, err
	}
	return types.DefaultTypeAdapter.NativeToValue(content).ConvertToNative(jsonValueType)
}
