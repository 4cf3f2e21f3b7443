// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage

import (
	"fmt"
	"reflect"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestReshare(t *testing.T) {
	type object = map[string]any
	table := []struct {
		name            string
		value, original any
		// shared holds the paths of containers that must be those of the original.
		shared [][]string
		whole  bool
	}{
		{name: "equal", value: object{"a": object{"b": []any{"x", int64(1)}}}, original: object{"a": object{"b": []any{"x", int64(1)}}}, whole: true},
		{name: "another field", value: object{"a": "x", "b": object{"c": "y"}}, original: object{"a": "z", "b": object{"c": "y"}}, shared: [][]string{{"b"}}},
		{name: "a new field", value: object{"a": "x", "b": object{"c": "y"}}, original: object{"b": object{"c": "y"}}, shared: [][]string{{"b"}}},
		{name: "a removed field", value: object{"b": object{"c": "y"}}, original: object{"a": "x", "b": object{"c": "y"}}, shared: [][]string{{"b"}}},
		{name: "other types", value: object{"a": int64(1), "b": []any{}, "c": nil, "d": "x", "e": object{}}, original: object{"a": float64(1), "b": object{}, "c": []any{}, "d": object{}, "e": nil}},
		{name: "empty lists", value: object{"a": []any{}, "b": []any{}}, original: object{"a": []any{"x"}, "b": []any(nil)}},
		{name: "shorter list", value: object{"a": []any{object{"x": "y"}}}, original: object{"a": []any{object{"x": "y"}, "z"}}},
		{name: "longer list", value: object{"a": []any{object{"x": "y"}, "z"}}, original: object{"a": []any{object{"x": "y"}}}},
		{name: "null and absent", value: object{"a": nil}, original: object{"b": nil}},
	}
	for _, test := range table {
		t.Run(test.name, func(t *testing.T) {
			want, before := runtime.DeepCopyJSONValue(test.value), runtime.DeepCopyJSONValue(test.original)
			got, size := reshare(test.value, test.original)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if !reflect.DeepEqual(test.original, before) {
				t.Errorf("the original is now %v", test.original)
			}
			if (size == 0) != test.whole {
				t.Errorf("got %d bytes", size)
			}
			if test.whole && !same(got, test.original) {
				t.Error("got another object than the original")
			}
			for _, path := range test.shared {
				if !same(got.(object)[path[0]], test.original.(object)[path[0]]) {
					t.Errorf("%v is not shared", path)
				}
			}
		})
	}
}

// The memory that a converted object is said to take is at least what it takes, and not twice as
// much.
func TestSizes(t *testing.T) {
	object := func(fields int) map[string]any {
		object := make(map[string]any, fields)
		for i := range fields {
			object[fmt.Sprintf("field%d", i)] = true
		}
		return object
	}
	list := func(items int) []any { return slices.Repeat([]any{true}, items) }
	table := map[string]any{
		"no fields": object(0), "an item of each type": []any{object(1), list(1), "text", int64(1000), 1.5, true, nil},
		"short text": "a", "text": strings.Repeat("text ", 20), "long text": strings.Repeat("text ", 5000),
		"nested": map[string]any{"a": map[string]any{"b": []any{object(2), object(3)}}},
	}
	for _, n := range []int{1, 2, 7, 8, 9, 14, 15, 16, 28, 29, 56, 57, 100, 300} {
		table[fmt.Sprintf("%d fields", n)], table[fmt.Sprintf("%d items", n)] = object(n), list(n)
	}
	const copies = 100
	for name, value := range table {
		t.Run(name, func(t *testing.T) {
			_, estimate := reshare(copied(value), nil)
			kept := make([]any, copies)
			var before, after goruntime.MemStats
			goruntime.ReadMemStats(&before)
			for i := range kept {
				kept[i] = copied(value)
			}
			goruntime.ReadMemStats(&after)
			if size := int(after.TotalAlloc-before.TotalAlloc) / copies; estimate < size || estimate > 2*size+textBytes {
				t.Errorf("estimated %d bytes, and it has %d", estimate, size)
			}
		})
	}
}

// copied copies a value with its texts and numbers, but not the names of fields.
func copied(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copies := make(map[string]any, len(value))
		for name, field := range value {
			copies[name] = copied(field)
		}
		return copies
	case []any:
		copies := make([]any, len(value))
		for i, item := range value {
			copies[i] = copied(item)
		}
		return copies
	case string:
		return strings.Clone(value)
	case int64:
		return value + 0
	case float64:
		return value + 0
	}
	return value
}

func same(a, b any) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

// Converted objects are found in the version that was added, until they have not been read for two
// periods.
func TestConvertedObjects(t *testing.T) {
	start := convertedBytes.Load()
	var c convertedObjects
	u := newObject(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	c.put("uid", "1", u, 100)
	c.put("", "1", u, 100)
	if c.get("uid", "1") != u || c.get("uid", "2") != nil || c.get("", "1") != nil {
		t.Error("got another object than that which was added")
	}
	c.expire()
	if c.get("uid", "1") != u {
		t.Error("an object that was just read has expired")
	}
	c.expire()
	c.expire()
	if c.get("uid", "1") != nil || convertedBytes.Load() != start {
		t.Errorf("an object that nobody has read is still there: %d bytes", convertedBytes.Load()-start)
	}
	c.put("uid", "1", u, maxConvertedBytes)
	if c.get("uid", "1") != nil {
		t.Error("an object is kept although there is no room")
	}
	c.put("uid", "1", u, 100)
	c.put("uid", "2", u, 50)
	c.close()
	c.put("uid", "3", u, 50)
	if convertedBytes.Load() != start || c.get("uid", "3") != nil {
		t.Errorf("%d bytes are kept after the end", convertedBytes.Load()-start)
	}
}
