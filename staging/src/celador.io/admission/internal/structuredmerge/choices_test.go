// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package structuredmerge_test

import (
	"math/rand/v2"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// choices decide what a generator makes. Each takes one byte. There is always a choice left: the
// number 0, which ends a generator.
type choices struct{ left []byte }

// random returns choices of a seed.
func random(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	made := make([]byte, 100+r.IntN(1500))
	for i := range made {
		made[i] = byte(r.Uint32())
	}
	return made
}

// n returns a number below limit.
func (c *choices) n(limit int) int {
	if len(c.left) == 0 {
		return 0
	}
	chosen := int(c.left[0]) % limit
	c.left = c.left[1:]
	return chosen
}

// one returns true once in n times, and never when no choice is left.
func (c *choices) one(n int) bool { return c.n(n) == n-1 }

func of[T any](c *choices, values ...T) T { return values[c.n(len(values))] }

var (
	words      = []string{"", "a", "b", "c", "d/e", "TCP"}
	quantities = []string{"0", "1", "500m", "2Ki", "1Gi", "2000", "1e3", "1024"}
)

// fill sets a Go value. It leaves types with a JSON form of their own alone, apart from those of
// most fields.
func (c *choices) fill(v reflect.Value) {
	switch into := v.Addr().Interface().(type) {
	case *metav1.TypeMeta:
		return
	case *metav1.Time:
		*into = of(c, metav1.Time{}, metav1.Unix(1, 0), metav1.Unix(2, 5), metav1.Unix(1<<40, 0))
		return
	case *metav1.MicroTime:
		*into = of(c, metav1.MicroTime{}, metav1.NewMicroTime(metav1.Unix(1, 2000).Time))
		return
	case *metav1.Duration:
		into.Duration = of(c, 0, metav1.Duration{Duration: 5e9}.Duration)
		return
	case *resource.Quantity:
		*into = resource.MustParse(of(c, quantities...))
		return
	case *intstr.IntOrString:
		*into = of(c, intstr.FromInt32(0), intstr.FromInt32(80), intstr.FromString("http"))
		return
	case *runtime.RawExtension:
		into.Raw = []byte(of(c, `{"a":1}`, `{"b":1,"a":2}`, `null`))
		return
	}
	if entry := value.TypeReflectEntryOf(v.Type()); v.Kind() != reflect.Pointer && entry.CanConvertToUnstructured() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		// The last fields must not be without choices each time.
		first := c.n(256)
		for i := range v.NumField() {
			field := v.Field((first + i) % v.NumField())
			if kind := field.Kind(); field.CanSet() && (kind == reflect.Struct && c.n(4) > 0 || c.one(3)) {
				c.fill(field)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		c.fill(v.Elem())
	case reflect.Slice:
		n := c.n(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			c.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range c.n(4) {
			key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			c.fill(key)
			c.fill(element)
			v.SetMapIndex(key, element)
		}
	case reflect.String:
		v.SetString(of(c, words...))
	case reflect.Bool:
		v.SetBool(c.one(2))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(c.n(4)))
	case reflect.Float64:
		v.SetFloat(float64(c.n(4)) / 2)
	case reflect.Uint8:
		v.SetUint(uint64(c.n(256)))
	}
}
