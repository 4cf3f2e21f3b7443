// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package constructed_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"celador.io/admission/cel/constructed"
)

// An objectValue has the methods of Kubernetes' objects.
type objectValue interface {
	ref.Val
	traits.Zeroer
}

// A construct makes an object of one implementation.
type construct func(typeName string, fields map[string]ref.Val) objectValue

func ours(typeName string, fields map[string]ref.Val) objectValue {
	return constructed.New(types.NewObjectType(typeName), fields)
}

func kubernetes(typeName string, fields map[string]ref.Val) objectValue {
	return dynamic.NewObjectVal(types.NewObjectType(typeName), fields)
}

// objects returns the same objects of either implementation.
func objects(object construct) map[string]objectValue {
	list := func(elements ...ref.Val) ref.Val { return types.NewRefValList(types.DefaultTypeAdapter, elements) }
	entries := func(key, value ref.Val) ref.Val {
		return types.NewRefValMap(types.DefaultTypeAdapter, map[ref.Val]ref.Val{key: value})
	}
	spec := func(typeName string) ref.Val { return object(typeName, map[string]ref.Val{"replicas": types.Int(5)}) }
	root := func(field string, v ref.Val) objectValue { return object("Object", map[string]ref.Val{field: v}) }
	return map[string]objectValue{
		"empty":                        object("Object", nil),
		"a scalar":                     root("replicas", types.Int(5)),
		"another number":               root("replicas", types.Double(5)),
		"null":                         root("replicas", types.NullValue),
		"an error":                     root("replicas", types.NewErr("no luck")),
		"an optional":                  root("replicas", types.OptionalOf(types.Int(5))),
		"no optional":                  root("replicas", types.OptionalNone),
		"an object":                    root("spec", spec("Object.spec")),
		"an object of a wrong type":    root("spec", spec("Object.status")),
		"an object of another kind":    object("Object.spec", map[string]ref.Val{"replicas": types.Int(5)}),
		"objects in an object":         root("a", object("Object.a", map[string]ref.Val{"b": object("Object.a.b", map[string]ref.Val{"c": types.String("d")})})),
		"wrong types in an object":     root("a", object("Object.b", map[string]ref.Val{"b": object("Object.a.b", map[string]ref.Val{"c": object("Object.c", nil)})})),
		"a list of objects":            root("spec", list(spec("Object.spec"), types.Int(1))),
		"a list of wrong objects":      root("spec", list(spec("Object"))),
		"a list of lists":              root("spec", list(list(spec("Object.spec")), list(spec("Object.x")))),
		"an empty list":                root("spec", list()),
		"a map of objects":             root("spec", entries(types.String("a"), spec("Object.spec"))),
		"a map of wrong objects":       root("spec", entries(types.String("a"), list(spec("Object.spec.a")))),
		"a map with another key":       root("spec", entries(types.Int(1), types.Int(1))),
		"a list of Go values":          root("spec", types.DefaultTypeAdapter.NativeToValue([]any{"a", map[string]any{"b": int64(1)}})),
		"a map of Go values":           root("spec", types.DefaultTypeAdapter.NativeToValue(map[string]any{"b": []any{int64(1)}})),
		"a map of Go values, int keys": root("spec", types.DefaultTypeAdapter.NativeToValue(map[int]string{1: "a"})),
	}
}

// text returns the text of a Go value without addresses.
func text(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var fields []string
		for name, field := range v {
			fields = append(fields, name+": "+text(field))
		}
		slices.Sort(fields)
		return fmt.Sprint(fields)
	case []any:
		elements := "a list"
		for _, element := range v {
			elements += " " + text(element)
		}
		return elements
	case []ref.Val:
		elements := "a list of values"
		for _, element := range v {
			elements += " " + text(element.Value())
		}
		return elements
	case error:
		return v.Error()
	default:
		return fmt.Sprintf("%#v", v)
	}
}

// report returns the results of all methods of an object, and of a comparison with all others.
func report(of objectValue, others map[string]objectValue, names []string, checkTypeNames func() error) map[string]string {
	results := map[string]string{"Value": text(of.Value()), "Type": of.Type().TypeName(), "IsZeroValue": fmt.Sprint(of.IsZeroValue())}
	for _, to := range []reflect.Type{reflect.TypeFor[map[string]any](), reflect.TypeFor[*structpb.Struct](), reflect.TypeFor[*structpb.Value](), reflect.TypeFor[string]()} {
		native, err := of.ConvertToNative(to)
		switch message := native.(type) {
		case *structpb.Struct:
			native = message.AsMap()
		case *structpb.Value:
			native = message.AsInterface()
		}
		results["ConvertToNative "+to.String()] = text(native) + text(err)
	}
	for _, to := range []ref.Type{types.NewObjectType("Object"), types.NewObjectType("Object.spec"), types.TypeType, types.StringType} {
		converted := of.ConvertToType(to)
		if converted == ref.Val(of) {
			results["ConvertToType "+to.TypeName()] = "itself"
		} else {
			results["ConvertToType "+to.TypeName()] = fmt.Sprint(converted)
		}
	}
	for _, name := range names {
		results["Equal "+name] = fmt.Sprint(of.Equal(others[name]))
	}
	results["Equal 1"] = fmt.Sprint(of.Equal(types.IntOne))
	if err := checkTypeNames(); err != nil {
		lines := strings.Split(err.Error(), "\n")
		slices.Sort(lines)
		results["CheckTypeNames"] = strings.Join(lines, "\n")
	}
	return results
}

// Objects have the results of Kubernetes' objects.
func TestObjectIsKubernetes(t *testing.T) {
	own, others, again := objects(ours), objects(kubernetes), objects(ours)
	var names []string
	for name := range own {
		names = append(names, name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			got := report(own[name], again, names, own[name].(*constructed.Object).CheckTypeNames)
			want := report(others[name], objects(kubernetes), names, others[name].(*dynamic.ObjectVal).CheckTypeNamesMatchFieldPathNames)
			for method := range want {
				if got[method] != want[method] {
					t.Errorf("%s: got %s, want %s", method, got[method], want[method])
				}
			}
			if len(got) != len(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// Fields and TypeName return what New was called with.
func TestFields(t *testing.T) {
	object := constructed.New(types.NewObjectType("Object.spec"), map[string]ref.Val{"replicas": types.Int(5)})
	if got := object.TypeName(); got != "Object.spec" {
		t.Errorf("got the type %q", got)
	}
	if fields := object.Fields(); len(fields) != 1 || fields["replicas"] != types.Int(5) {
		t.Errorf("got the fields %v", fields)
	}
}
