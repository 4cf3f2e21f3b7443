// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"encoding/base64"
	"math"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Of returns the CEL value of an object, which may be anything that has a JSON form: a
// struct or map is a CEL map, a slice a list, bytes are a base64 string, nil is null.
// What has no JSON form is a CEL error, there and then or where it is read. Not safe for
// concurrent use, except that Of itself is.
func Of(object any) ref.Val { return typedPlans.of(object) }

func (s *planSet) of(object any) ref.Val {
	if object == nil {
		return types.NullValue
	}
	v := reflect.ValueOf(object)
	return s.planFor(v.Type()).value(v)
}

// value returns the CEL value of a Go value of the plan's type.
func (p *plan) value(v reflect.Value) ref.Val {
	switch p.form {
	case formInterface, formPointer, formMap, formList, formBytes:
		if v.IsNil() {
			return types.NullValue
		}
	}
	switch p.form {
	case formBool:
		return types.Bool(v.Bool())
	case formInt:
		return types.Int(v.Int())
	case formUint:
		if v.Uint() > math.MaxInt64 {
			return types.NewErr("unsigned value %d does not fit into int64 (overflow)", v.Uint())
		}
		return types.Int(v.Uint())
	case formDouble:
		return types.Double(v.Float())
	case formString:
		return types.String(v.String())
	case formBytes:
		return types.String(base64.StdEncoding.EncodeToString(v.Bytes()))
	case formIntOrString:
		switch i := v.Interface().(intstr.IntOrString); i.Type {
		case intstr.Int:
			return types.Int(i.IntVal)
		case intstr.String:
			return types.String(i.StrVal)
		default:
			return p.marshal(v)
		}
	case formMarshaler:
		return p.marshal(v)
	case formInterface:
		return p.set.of(v.Interface())
	case formPointer:
		return p.elem.value(v.Elem())
	case formList:
		if p.set.unstructured {
			return &unstructuredList{typed: listValue{elem: p.elem, object: v}}
		}
		return &listValue{elem: p.elem, object: v}
	case formMap:
		if p.set.unstructured {
			return &unstructuredMap{typed: newMapValue(p.elem, v)}
		}
		return newMapValue(p.elem, v)
	case formStruct:
		if p.set.unstructured {
			return newUnstructuredStruct(p, v)
		}
		return &structValue{plan: p, object: v}
	default:
		return types.NewErr("unsupported Go type for CEL: %v", v.Type())
	}
}

// marshal returns the value of the JSON that the type makes of v.
func (p *plan) marshal(v reflect.Value) ref.Val {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return types.NullValue
		}
	}
	if !v.CanAddr() {
		// The methods may be those of a pointer.
		addressable := reflect.New(v.Type()).Elem()
		addressable.Set(v)
		v = addressable
	}
	content, err := p.entry.ToUnstructured(v)
	if err != nil {
		return types.NewErr("failed to convert to unstructured: %v", err)
	}
	return types.DefaultTypeAdapter.NativeToValue(content)
}
