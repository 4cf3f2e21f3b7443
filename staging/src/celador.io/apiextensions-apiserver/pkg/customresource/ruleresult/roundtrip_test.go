// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
)

// choices makes decisions from the bytes of a fuzzer. Without bytes, all decisions are 0.
type choices struct{ data []byte }

func (c *choices) below(n int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

func (c *choices) word() string {
	return []string{"", "a", "b.c", "x y", "é\u0000"}[c.below(5)]
}

// value returns a value that conforms to a schema, with strings as Assign writes them.
func (c *choices) value(s *structuralschema.Structural) any {
	if s.Nullable && c.below(4) == 1 {
		return nil
	}
	switch {
	case s.XIntOrString:
		if c.below(2) == 0 {
			return int64(c.below(256))
		}
		return c.word()
	case s.Type == "":
		return c.json(3)
	case s.Type == "integer":
		return int64(c.below(256)) << c.below(56)
	case s.Type == "number":
		if c.below(2) == 0 {
			return int64(c.below(256))
		}
		return float64(c.below(256)) + 0.5
	case s.Type == "boolean":
		return c.below(2) == 1
	case s.Type == "string" && s.ValueValidation != nil:
		at := time.Unix(int64(c.below(256))*1e6, int64(c.below(3))*1e6).UTC()
		switch s.ValueValidation.Format {
		case "date-time":
			return at.Format(time.RFC3339Nano)
		case "date":
			return at.Format(time.DateOnly)
		case "duration":
			return (time.Duration(c.below(256)) * time.Second).String()
		case "byte":
			return base64.StdEncoding.EncodeToString([]byte(c.word()))
		}
		return c.word()
	case s.Type == "string":
		return c.word()
	case s.Type == "array":
		items := make([]any, c.below(4))
		for i := range items {
			items[i] = c.value(s.Items)
		}
		return items
	}
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if c.below(2) == 1 {
			property := s.Properties[name]
			fields[name] = c.value(&property)
		}
	}
	for range c.below(3) {
		switch {
		case s.AdditionalProperties != nil:
			fields[c.word()] = c.value(s.AdditionalProperties.Structural)
		case s.XPreserveUnknownFields:
			fields["unknown-"+c.word()] = c.json(3)
		}
	}
	return fields
}

func (c *choices) json(depth int) any {
	switch kind := c.below(7); {
	case kind == 1:
		return int64(c.below(256))
	case kind == 2:
		return float64(c.below(256)) + 0.25
	case kind == 3:
		return c.word()
	case kind == 4:
		return c.below(2) == 1
	case kind == 5 && depth > 0:
		items := make([]any, c.below(4))
		for i := range items {
			items[i] = c.json(depth - 1)
		}
		return items
	case kind == 6 && depth > 0:
		fields := map[string]any{}
		for range c.below(4) {
			fields[c.word()] = c.json(depth - 1)
		}
		return fields
	default:
		return nil
	}
}

// FuzzAssign checks that what expressions read from an object is written back as it was, by
// Kubernetes' values and by ours, for whole objects and for their fields.
func FuzzAssign(f *testing.F) {
	schema := structural(f, schemaText)
	fixture := newFixture(f)
	spec := schema.Properties["spec"]
	f.Add([]byte(nil))
	f.Add([]byte(strings.Repeat("\x01", 200)))
	f.Add([]byte(strings.Repeat("\x01\x03\x05\x01", 80)))
	f.Add([]byte(strings.Repeat("\x01\x02\x01\x06", 80)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &choices{data}
		value := c.value(&spec).(map[string]any)
		for name, v := range map[string]ref.Val{
			"upstream": common.UnstructuredToVal(value, &model.Structural{Structural: &spec}),
			"ours":     schemaexpression.Value(value, schemaexpression.NewSchema(&model.Structural{Structural: &spec})),
		} {
			check(t, name, v, &spec, value)
			mapper, ok := v.(interface {
				Find(ref.Val) (ref.Val, bool)
			})
			if !ok {
				t.Fatalf("%s: %T has no fields", name, v)
			}
			for field, want := range value {
				if property, declared := spec.Properties[field]; declared && want != nil && property.Type != "" {
					got, found := mapper.Find(types.String(field))
					if !found {
						t.Fatalf("%s: field %s not found", name, field)
					}
					check(t, name+" "+field, got, &property, want)
				}
			}
		}
		// The same object through a constructor.
		fields := map[string]ref.Val{}
		for field, v := range value {
			property := spec.Properties[field]
			if v != nil && property.Type != "" && !property.XPreserveUnknownFields {
				fields[field] = common.UnstructuredToVal(v, &model.Structural{Structural: &property})
			}
		}
		constructed, ok := fixture.types.Resolve("Object.spec")
		if !ok {
			t.Fatal("no type Object.spec")
		}
		got, set, err := new(ruleresult.Assigner).Assign(nil, constructed.Val(fields), &spec)
		if err != nil || !set {
			t.Fatalf("constructor: %v, %v", set, err)
		}
		for field := range fields {
			if diff := cmp.Diff(value[field], got.(map[string]any)[field]); diff != "" {
				t.Errorf("constructor: %s", diff)
			}
		}
	})
}

func check(t *testing.T, name string, v ref.Val, schema *structuralschema.Structural, want any) {
	t.Helper()
	got, set, err := new(ruleresult.Assigner).Assign(nil, v, schema)
	if err != nil || !set {
		t.Fatalf("%s: %v, %v for %v", name, set, err, want)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// TestLimits checks that results which share parts, or are huge, end with an error.
func TestLimits(t *testing.T) {
	anything := &structuralschema.Structural{Extensions: structuralschema.Extensions{XPreserveUnknownFields: true}}
	twice := func(v ref.Val) ref.Val { return types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{v, v}) }
	var shared, deep ref.Val = types.True, types.True
	for range 64 {
		shared = twice(shared)
	}
	raw := any(true)
	for range ruleresult.MaxDepth + 1 {
		deep = types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{deep})
		raw = map[string]any{"a": raw}
	}
	long := types.String(strings.Repeat("x", ruleresult.MaxText/2+1))
	chain := twice(types.True)
	for range 30 {
		chain = chain.(interface{ Add(ref.Val) ref.Val }).Add(chain)
	}
	manyKeys := map[ref.Val]ref.Val{}
	for i := range 4 {
		manyKeys[types.String(fmt.Sprintf("%d%s", i, strings.Repeat("x", ruleresult.MaxText/3)))] = types.True
	}
	for name, tc := range map[string]struct {
		value ref.Val
		want  string
	}{
		"shared parts":   {shared, "the results of the rules have more than 1048576 values: filter lists, or return a part of them"},
		"concatenations": {chain, "the results of the rules have more than 1048576 values: filter lists, or return a part of them"},
		"deep":           {deep, "the lists and maps of the result are nested deeper than 10000"},
		"deep JSON":      {types.DefaultTypeAdapter.NativeToValue(raw), "the lists and maps of the result are nested deeper than 10000"},
		"long text":      {twice(long), "the results of the rules have more than 4194304 bytes of text: shorten them"},
		"long keys":      {types.NewRefValMap(types.DefaultTypeAdapter, manyKeys), "the results of the rules have more than 4194304 bytes of text: shorten them"},
		"invalid UTF-8":  {types.String("\xff"), "the result is not valid UTF-8"},
		"error":          {types.NewErr("broken"), "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			_, set, err := new(ruleresult.Assigner).Assign(nil, tc.value, anything)
			if set || err == nil || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("got %v, %v, want %s", set, err, tc.want)
			}
		})
	}
	var results ruleresult.Assigner
	var failed error
	for range 3 {
		_, _, err := results.Assign(nil, long, anything)
		failed = errors.Join(failed, err)
	}
	if failed == nil {
		t.Error("the limits do not apply to all results together")
	}
	if _, set, err := new(ruleresult.Assigner).Assign(nil, nil, anything); set || err == nil {
		t.Errorf("got %v, %v for no result", set, err)
	}
}
