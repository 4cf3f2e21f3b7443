// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"celador.io/admission/values"
)

var (
	// jsonValueType is what every value converts to that JSON can represent.
	jsonValueType = reflect.TypeFor[*structpb.Value]()
	stringType    = reflect.TypeFor[string]()
)

// jsonValueOf returns the JSON of any value that has one. Lists and maps that CEL makes, such
// as by concatenation, convert only if they have nothing of a Go type in them, so that is
// not left to them.
func jsonValueOf(value ref.Val) (*structpb.Value, error) {
	switch v := value.(type) {
	case *dynamic.ObjectVal:
		fields, err := looseFields(v)
		if err != nil {
			return nil, err
		}
		return structpb.NewValue(fields)
	case *types.Optional:
		if v.HasValue() {
			return jsonValueOf(v.GetValue())
		}
	case traits.Lister:
		if !values.IsGo(v) {
			return jsonListOf(v)
		}
	case traits.Mapper:
		if !values.IsGo(v) {
			return jsonMapOf(v)
		}
	}
	native, err := value.ConvertToNative(jsonValueType)
	if err != nil {
		return nil, err
	}
	return native.(*structpb.Value), nil
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
