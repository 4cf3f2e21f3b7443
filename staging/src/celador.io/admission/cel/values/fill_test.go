// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A filler fills objects with random values, which depend on the seed only.
type filler struct{ *rand.Rand }

// fillType sets v to a random value of its type.
func fillType(seed uint64, v reflect.Value) {
	filler{rand.New(rand.NewPCG(seed, 1))}.fill(v, 9)
}

func (f filler) often() bool { return f.IntN(3) > 0 }

func (f filler) text() string {
	return []string{"", "a", "app", "registry.example.com/a", "ünïcode \"<&>", strconv.Itoa(f.IntN(1000))}[f.IntN(6)]
}

// fill sets v to a random value of its type with at most depth levels.
func (f filler) fill(v reflect.Value, depth int) {
	if !v.CanSet() {
		return
	}
	switch o := v.Addr().Interface().(type) {
	case *metav1.Time:
		o.Time = time.Unix(f.Int64N(2)*f.Int64N(2e9), 0)
		return
	case *metav1.MicroTime:
		o.Time = time.UnixMicro(f.Int64N(2e15))
		return
	case *resource.Quantity:
		*o = *resource.NewMilliQuantity(f.Int64N(1e6)*f.Int64N(2), []resource.Format{resource.DecimalSI, resource.BinarySI}[f.IntN(2)])
		return
	case *intstr.IntOrString:
		*o = []intstr.IntOrString{intstr.FromInt32(f.Int32()), intstr.FromString(f.text()), {}, {Type: 7}}[f.IntN(4)]
		return
	case *runtime.RawExtension:
		*o = []runtime.RawExtension{{}, {Raw: []byte(`{"a":[1,2.5,"x",null,true]}`)}, {Object: &corev1.ConfigMap{Data: map[string]string{"a": "b"}}}, {Raw: []byte("{")}}[f.IntN(4)]
		return
	case *metav1.FieldsV1:
		*o = []metav1.FieldsV1{{}, {Raw: []byte(`{"f:spec":{}}`)}}[f.IntN(2)]
		return
	case *json.RawMessage:
		*o = []json.RawMessage{nil, json.RawMessage(`[1]`), json.RawMessage(`{`)}[f.IntN(3)]
		return
	case *any:
		*o = []any{nil, 1, "s", map[string]any{"a": []any{int64(1), "b"}}, corev1.EnvVar{Name: "e"}, &corev1.EnvVar{Name: "p"}, (*corev1.Pod)(nil)}[f.IntN(7)]
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(f.IntN(2) > 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, f.Int64()}[f.IntN(4)])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, f.Uint64()}[f.IntN(3)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, 2.5}[f.IntN(3)])
	case reflect.String:
		v.SetString(f.text())
	case reflect.Pointer:
		if depth > 0 && f.often() {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth-1)
		}
	case reflect.Slice:
		if depth > 0 && f.often() {
			n := f.IntN(3)
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				f.fill(v.Index(i), depth-1)
			}
		}
	case reflect.Map:
		if depth > 0 && f.often() {
			v.Set(reflect.MakeMap(v.Type()))
			for range f.IntN(4) {
				key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				f.fill(key, depth-1)
				f.fill(elem, depth-1)
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// Most fields of real objects are not set.
			if v.Type().Field(i).Anonymous || f.IntN(2) > 0 {
				f.fill(v.Field(i), depth-1)
			}
		}
	}
}
