// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package interning_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"celador.io/apiextensions-apiserver/pkg/customresource/interning"
)

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

const object = `{"kind":"Widget","metadata":{"name":"a","managedFields":[
	{"manager":"m","fieldsV1":{"f:spec":{".":{},"f:size":{}}}},{"manager":"n","fieldsV1":{"f:spec":{"f:color":{}}}}]},
	"spec":{"color":"red","sizes":[1,2.5,"large",null,true,["large"]],"long":"%s"}}`

func long() string { return fmt.Sprintf(object, strings.Repeat("x", 100)) }

// Interned objects are equal to the decoded ones, and share texts and managed fields from the third
// one on.
func TestIntern(t *testing.T) {
	var objects []map[string]any
	for range 4 {
		o := decode(t, long())
		interning.Intern(o)
		if want := decode(t, long()); !reflect.DeepEqual(o, want) {
			t.Fatalf("got %v, want %v", o, want)
		}
		objects = append(objects, o)
	}
	one, two := objects[2], objects[3]
	spec := func(o map[string]any) map[string]any { return o["spec"].(map[string]any) }
	if data(spec(one)["color"].(string)) != data(spec(two)["color"].(string)) {
		t.Error("equal texts are not shared")
	}
	if data(spec(one)["long"].(string)) == data(spec(two)["long"].(string)) {
		t.Error("long texts are shared")
	}
	if data(key(spec(one), "color")) != data(key(spec(two), "color")) {
		t.Error("equal names are not shared")
	}
	if pointer(spec(one)) == pointer(spec(two)) {
		t.Error("objects share fields that can be changed")
	}
	for i := range 2 {
		if pointer(fieldsOf(one, i)) != pointer(fieldsOf(two, i)) {
			t.Errorf("equal managed fields %d are not shared", i)
		}
	}
}

// Managed fields are shared only if they are equal.
func TestManagedFieldsThatDiffer(t *testing.T) {
	texts := []string{`{"f:a":{"f:b":{}}}`, `{"f:b":{"f:a":{}}}`, `{"f:a":{},"f:b":{}}`, `{"f:a":{"f:b":{},".":{}}}`, `{}`, `{"f:a":"odd"}`}
	for range 4 {
		for _, text := range texts {
			o := decode(t, `{"metadata":{"managedFields":[{"fieldsV1":`+text+`},"odd"]}}`)
			interning.Intern(o)
			if got, want := fieldsOf(o, 0), decode(t, text); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
	}
}

// Objects without metadata, or with metadata of another form, stay as they are.
func TestOddObjects(t *testing.T) {
	for _, text := range []string{`{}`, `{"metadata":"x"}`, `{"metadata":{"managedFields":{}}}`} {
		o := decode(t, text)
		interning.Intern(o)
		if want := decode(t, text); !reflect.DeepEqual(o, want) {
			t.Errorf("got %v, want %v", o, want)
		}
	}
}

func TestConcurrently(t *testing.T) {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := range 200 {
				text := fmt.Sprintf(`{"metadata":{"managedFields":[{"fieldsV1":{"f:x%d":{}}}]},"spec":{"x%d":"y%d"}}`, n%9, n%7, i*n)
				o := decode(t, text)
				interning.Intern(o)
				if want := decode(t, text); !reflect.DeepEqual(o, want) {
					t.Errorf("got %v, want %v", o, want)
				}
			}
		})
	}
	group.Wait()
}

func fieldsOf(o map[string]any, i int) map[string]any {
	entries := o["metadata"].(map[string]any)["managedFields"].([]any)
	return entries[i].(map[string]any)["fieldsV1"].(map[string]any)
}

func key(m map[string]any, name string) string {
	for k := range m {
		if k == name {
			return k
		}
	}
	return ""
}

func data(text string) *byte { return unsafe.StringData(text) }

func pointer(m map[string]any) uintptr { return reflect.ValueOf(m).Pointer() }
