// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"celador.io/celador/test/equivalence/harness"
)

// builtInRequest generates a request to create or update an object of a built-in kind.
func (g *generator) builtInRequest(kind schema.GroupVersionKind, name string) request {
	r := request{Operation: admission.Create, Resource: resourceOf(kind), Kind: kind, Name: name, Options: &metav1.CreateOptions{}, User: harness.Jane}
	if !clusterScoped[kind.Kind] {
		r.Namespace = "blue"
	}
	r.Object = g.builtInObject(kind, r.Namespace, name)
	if g.Chance(20) {
		r.Operation, r.Old, r.Options = admission.Update, g.builtInObject(kind, r.Namespace, name), &metav1.UpdateOptions{}
	}
	if g.Chance(15) {
		r.Touch = touch
	}
	return r
}

// builtInObject generates objects until one converts to its internal form.
func (g *generator) builtInObject(kind schema.GroupVersionKind, namespace, name string) runtime.Object {
	for range 20 {
		if object := g.tryObject(kind, namespace, name); object != nil {
			return object
		}
	}
	object, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		panic(err)
	}
	identify(object, namespace, name)
	return received(object)
}

func (g *generator) tryObject(kind schema.GroupVersionKind, namespace, name string) (made runtime.Object) {
	defer func() {
		if recover() != nil {
			made = nil // it has no internal form, or defaults cannot be set
		}
	}()
	object, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		panic(err)
	}
	g.fill(reflect.ValueOf(object).Elem(), 0)
	identify(object, namespace, name)
	if g.Chance(15) {
		return internal(object) // without defaults, as another plugin may leave it
	}
	return received(object)
}

func identify(object runtime.Object, namespace, name string) {
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	accessor.SetNamespace(namespace)
	accessor.SetName(name)
}

var (
	// Some quantities are not in canonical form.
	generatedQuantities = []string{"1", "1Gi", "1073741824", "1024Mi", "500m", "0.5", "2Ki", "2000", "1.953125Ki", "0.9765625Ki", "1e3", "1E3", "0", "0Ki", "1.5Gi", "100n", "1e-3", "12e6", "1.3Gi"}
	generatedTexts      = []string{"a", "b", "a", "b", "", "TCP", "main", "<&>"}
	generatedJSON       = []string{`{"a":1}`, `{"b": 1, "a": {"d":[1.0,2],"c":null}}`, `{"z":"<","a":1}`, `null`, `{}`}
	generatedFields     = []string{`{"f:metadata":{"f:labels":{".":{},"f:app":{}}}}`, `{"f:z":{},"f:a":{}}`, `{"f:spec":{"k:{\"name\":\"b\"}":{".":{}},"f:a":{}}}`}
	generatedTimes      = []time.Time{{}, time.Date(2026, 1, 2, 3, 4, 5, 678912345, time.UTC), time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600)), time.Date(2026, 1, 2, 3, 4, 5, 600000000, time.UTC)}
)

// fill generates a value of any API type, including empty maps and lists.
func (g *generator) fill(v reflect.Value, depth int) {
	switch into := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*into = resource.MustParse(harness.Pick(g, generatedQuantities...))
		return
	case *metav1.Time:
		into.Time = harness.Pick(g, generatedTimes...)
		return
	case *metav1.MicroTime:
		into.Time = harness.Pick(g, generatedTimes...)
		return
	case *metav1.Duration:
		into.Duration = time.Duration(g.IntN(3)) * time.Second
		return
	case *intstr.IntOrString:
		*into = harness.Pick(g, intstr.FromInt32(0), intstr.FromInt32(5), intstr.FromString("25%"), intstr.FromString("web"))
		return
	case *runtime.RawExtension:
		into.Raw = []byte(harness.Pick(g, generatedJSON...))
		return
	case *metav1.FieldsV1:
		into.SetRawBytes([]byte(harness.Pick(g, generatedFields...)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			// Only a few fields of a struct are set.
			if kind := v.Field(i).Kind(); v.Type().Field(i).Anonymous || depth < 2 || kind == reflect.Struct || g.Chance(35) {
				g.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if depth < 12 && g.Chance(60) {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if g.Chance(20) || depth >= 12 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), harness.Pick(g, 1, 1, 2, 0), 3))
		for i := range v.Len() {
			g.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		if g.Chance(20) || depth >= 12 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range harness.Pick(g, 1, 2, 0) {
			key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString(harness.Pick(g, "cpu", "memory", "a", "b"))
			g.fill(element, depth+1)
			v.SetMapIndex(key, element)
		}
	case reflect.String:
		v.SetString(harness.Pick(g, generatedTexts...))
	case reflect.Bool:
		v.SetBool(g.Chance(50))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(harness.Pick(g, 0, 1, 5, 80)))
	case reflect.Uint8:
		v.SetUint(uint64(g.IntN(256)))
	case reflect.Float64:
		v.SetFloat(0.5)
	default:
		panic(fmt.Sprintf("no value of type %v", v.Type()))
	}
}
