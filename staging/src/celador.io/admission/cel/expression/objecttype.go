// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/cel/internal/limits"
	"celador.io/admission/cel/values"
)

// patchTypes resolves JSONPatch, Object, and the types of the fields of Object.
type patchTypes struct{ mutation.DynamicTypeResolver }

// Resolve implements common.TypeResolver.
func (p *patchTypes) Resolve(name string) (common.ResolvedType, bool) {
	resolved, ok := p.DynamicTypeResolver.Resolve(name)
	if object, is := resolved.(*dynamic.ObjectType); is {
		return objectType{object}, true
	}
	return resolved, ok
}

// objectType constructs objects whose fields may contain views of Go objects (package values), such
// as [request.userInfo].
//
// The conversion of an object to a Go value calls Value() of the list literals, map literals and
// optionals in its fields. For the views in them, Value() returns Go structs, maps and slices,
// which belong into the object. For some values of CEL libraries, such as IP addresses, it returns
// Go values, too, which must be rejected. The two cannot be told apart afterwards, so Val converts
// the views to unstructured values when the object is constructed.
type objectType struct{ *dynamic.ObjectType }

// Val implements common.ResolvedType.
func (t objectType) Val(fields map[string]ref.Val) ref.Val {
	for name, field := range fields {
		if values.IsTyped(field) {
			continue // the object converts it element by element
		}
		// A list that contains another list twice takes exponential time to convert.
		if err := limits.Result(field); err != nil {
			return types.WrapErr(err)
		}
		converted, _, err := unstructured(field)
		if err != nil {
			return types.NewErr("invalid value of field %q: %v", name, err)
		}
		fields[name] = converted
	}
	return constructed.New(t.Type(), fields)
}

// unstructured replaces the views of Go objects in v with their unstructured form. It returns v
// itself, and false, if v contains none.
func unstructured(v ref.Val) (_ ref.Val, changed bool, _ error) {
	if values.IsTyped(v) {
		converted, err := values.Unstructured(v)
		return converted, true, err
	}
	switch v := v.(type) {
	case *types.Optional:
		if !v.HasValue() {
			return v, false, nil
		}
		held, changed, err := unstructured(v.GetValue())
		if !changed || err != nil {
			return v, false, err
		}
		return types.OptionalOf(held), true, nil
	case traits.Lister:
		if elements, literal := values.LiteralElements(v); literal {
			return unstructuredList(v, elements)
		}
	case traits.Mapper:
		if entries, literal := values.LiteralEntries(v); literal {
			return unstructuredMap(v, entries)
		}
	}
	return v, false, nil
}

func unstructuredList(list ref.Val, elements []ref.Val) (_ ref.Val, changed bool, _ error) {
	var copied []ref.Val
	for i, element := range elements {
		converted, changed, err := unstructured(element)
		switch {
		case err != nil:
			return nil, false, err
		case !changed:
			continue
		case copied == nil:
			copied = slices.Clone(elements)
		}
		copied[i] = converted
	}
	if copied == nil {
		return list, false, nil
	}
	return types.NewRefValList(types.DefaultTypeAdapter, copied), true, nil
}

func unstructuredMap(entries ref.Val, elements map[ref.Val]ref.Val) (_ ref.Val, changed bool, _ error) {
	var copied map[ref.Val]ref.Val
	for key, element := range elements {
		converted, changed, err := unstructured(element)
		switch {
		case err != nil:
			return nil, false, err
		case !changed:
			continue
		case copied == nil:
			copied = maps.Clone(elements)
		}
		copied[key] = converted
	}
	if copied == nil {
		return entries, false, nil
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, copied), true, nil
}
