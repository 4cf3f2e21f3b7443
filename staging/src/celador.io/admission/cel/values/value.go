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

// Of returns the CEL value of an object with a JSON form. Structs and maps become CEL maps, slices
// become lists, byte slices base64 strings, and nil null. A part without a JSON form becomes a CEL
// error where it is read. Of is safe for concurrent use; the returned value is not.
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
	case formTimestamp:
		return types.Timestamp{Time: v.Interface().(Timestamp).Time.Time}
	case formMarshaler:
		return p.marshal(v)
	case formInterface:
		return p.set.of(v.Interface())
	case formPointer:
		return p.elem.value(v.Elem())
	case formList:
		if p.set.unstructured {
			return newUnstructuredList(p.elem, v)
		}
		return &listValue{elem: p.elem, object: v}
	case formMap:
		if p.set.unstructured {
			return newUnstructuredMap(p.elem, v)
		}
		return &mapValue{elem: p.elem, object: v}
	case formStruct:
		if p.set.unstructured {
			return newUnstructuredStruct(p, v)
		}
		return &structValue{plan: p, object: v}
	default:
		return types.NewErr("unsupported Go type for CEL: %v", v.Type())
	}
}

// marshal converts v with its own JSON encoding.
func (p *plan) marshal(v reflect.Value) ref.Val {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return types.NullValue
		}
	}
	if !v.CanAddr() {
		// The type may implement its encoding with a pointer receiver.
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

// convertToType implements ref.Val.ConvertToType for lists and maps, which have the type own.
func convertToType(v ref.Val, own *types.Type, to ref.Type) ref.Val {
	switch to {
	case own:
		return v
	case types.TypeType:
		return own
	default:
		return types.NewErr("type conversion error from '%s' to '%s'", own, to.TypeName())
	}
}
