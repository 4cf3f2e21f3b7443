// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/suite"
)

// TestSchema compares the fields of schema.json, which editors read, with those of the Go types.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type definition struct {
		Properties map[string]any
	}
	var schema struct {
		definition
		Definitions map[string]definition
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{"Suite": slices.Sorted(maps.Keys(schema.Properties))}
	for name, d := range schema.Definitions {
		got[name] = slices.Sorted(maps.Keys(d.Properties))
	}
	want := map[string][]string{"Manifest": nil, "Time": nil} // Time is a string
	addFields(want, reflect.TypeFor[suite.Suite]())
	delete(want, "Time")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-Go types +schema):\n%s", diff)
	}
}

// addFields adds the JSON names of the fields of a struct and of the structs that it refers to.
func addFields(fields map[string][]string, of reflect.Type) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		addFields(fields, of.Elem())
	case reflect.Struct:
		if _, found := fields[of.Name()]; found {
			return
		}
		fields[of.Name()] = nil
		var names []string
		for _, field := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" {
				continue // inlined: its fields are visible
			}
			names = append(names, name)
			addFields(fields, field.Type)
		}
		slices.Sort(names)
		fields[of.Name()] = names
	}
}
