// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
)

var (
	// jsonValueType is the protobuf type to which cel-go converts values for JSON.
	jsonValueType = reflect.TypeFor[*structpb.Value]()
	stringType    = reflect.TypeFor[string]()
)

// jsonValueOf converts a value to JSON. It returns cel-go's conversion error for a value that has
// no JSON form. cel-go cannot convert a list or map that it builds, such as a concatenation, if it
// contains views (package values). jsonValueOf therefore converts such lists and maps itself.
func jsonValueOf(value ref.Val) (*structpb.Value, error) {
	native, err := value.ConvertToNative(jsonValueType)
	if err == nil {
		return native.(*structpb.Value), nil
	}
	converted, partErr := (*structpb.Value)(nil), err
	switch v := value.(type) {
	case traits.Lister:
		converted, partErr = jsonListOf(v)
	case traits.Mapper:
		converted, partErr = jsonMapOf(v)
	}
	if partErr != nil {
		return nil, err
	}
	return converted, nil
}

func jsonListOf(list traits.Lister) (*structpb.Value, error) {
	content := &structpb.ListValue{}
	for it := list.Iterator(); it.HasNext() == types.True; {
		element, err := jsonValueOf(it.Next())
		if err != nil {
			return nil, err
		}
		content.Values = append(content.Values, element)
	}
	return structpb.NewListValue(content), nil
}

func jsonMapOf(entries traits.Mapper) (*structpb.Value, error) {
	content := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for it := entries.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, err := key.ConvertToNative(stringType)
		if err != nil {
			return nil, err
		}
		if content.Fields[name.(string)], err = jsonValueOf(entries.Get(key)); err != nil {
			return nil, err
		}
	}
	return structpb.NewStructValue(content), nil
}
