// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// FuzzConvert converts generated objects with generated rules. Rules may fail, but must not panic,
// change the source, or change what conversion must keep. Results of valid rules have the types of
// the target's schema.
func FuzzConvert(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := newGenerator(seed)
		d := g.definition()
		errs, _ := validate(d, nil)
		errs = slices.DeleteFunc(errs, func(err string) bool { return strings.HasPrefix(err, "spec.conversion.converters[1]") })
		converter := conversion.New(d)
		for range 5 {
			malformed := g.IntN(3) == 0
			in := g.widget("v1", d.Versions[0].Schema, malformed)
			before := in.DeepCopy()
			out, err := converter.Convert(context.Background(), in, "v2")
			if diff := cmp.Diff(before.Object, in.Object); diff != "" {
				t.Fatalf("the source changed (%v): %s", err, diff)
			}
			if err != nil {
				checkError(t, err, len(errs) == 0)
				continue
			}
			if out.GetAPIVersion() != "example.com/v2" || out.GetKind() != "Widget" || out.GetName() != "b" || len(out.GetFinalizers()) != 1 {
				t.Fatalf("changed type or metadata: %v", out)
			}
			if _, err := json.Marshal(out.Object); err != nil {
				t.Fatal(err)
			}
			if len(errs) > 0 || malformed {
				continue
			}
			pruned := prune(out, d.Versions[1].Schema)
			for _, name := range slices.Sorted(maps.Keys(d.Versions[1].Schema.Properties)) {
				field := d.Versions[1].Schema.Properties[name]
				if value, ok := pruned[name]; ok {
					if err := conforms(name, value, &field); err != nil {
						rules, _ := json.MarshalIndent(d.Converters[0], "", " ")
						t.Fatalf("%v\n%s\n%v\n%v", err, rules, in.Object, pruned)
					}
				}
			}
		}
	})
}

func checkError(t *testing.T, err error, valid bool) {
	t.Helper()
	var failure *conversion.Error
	if !errors.As(err, &failure) || failure.Reason == conversion.ReasonInternal || valid && failure.Reason == conversion.ReasonCompilation {
		t.Fatal(err)
	}
}

// prune returns a copy of the object as the server coerces it.
func prune(u *unstructured.Unstructured, s *structuralschema.Structural) map[string]any {
	object := u.DeepCopy().Object
	pruning.Prune(object, s, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s)
	return object
}

// conforms returns an error if a value does not have the type of its schema.
func conforms(path string, value any, s *structuralschema.Structural) error {
	if s.Type == "" && !s.XIntOrString {
		return nil
	}
	fail := fmt.Errorf("%s is %T (%v) for a schema of type %q", path, value, value, s.Type)
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		if s.Type != "string" && !s.XIntOrString {
			return fail
		}
	case int64:
		if s.Type != "integer" && s.Type != "number" && !s.XIntOrString {
			return fail
		}
	case float64:
		if s.Type != "number" {
			return fail
		}
	case bool:
		if s.Type != "boolean" {
			return fail
		}
	case []any:
		if s.Items == nil {
			return fail
		}
		for i, item := range value {
			if err := conforms(fmt.Sprintf("%s[%d]", path, i), item, s.Items); err != nil {
				return err
			}
			if object, ok := item.(map[string]any); ok && len(s.XListMapKeys) > 0 && object["key"] == nil {
				return fmt.Errorf("%s[%d] has no key", path, i)
			}
		}
	case map[string]any:
		if s.Type != "object" {
			return fail
		}
		for name, entry := range value {
			field, ok := s.Properties[name]
			if !ok && s.AdditionalProperties != nil {
				field = *s.AdditionalProperties.Structural
			}
			if err := conforms(path+"."+name, entry, &field); err != nil {
				return err
			}
		}
	default:
		return fail
	}
	return nil
}

// FuzzValidate checks rules with any text.
func FuzzValidate(f *testing.F) {
	f.Add("spec.list[*]", "name", "has(self.name) ? self.name : null")
	f.Add("", "metadata.annotations['a.b/c']", "json.encode(self.spec)")
	f.Add(".", "spec", "Object.spec{list: [Object.spec.list{name: 'x'}]}")
	f.Add("spec.map[*]", "", "self + '\\u0000'")
	f.Add("[*]", "[\"spec\"].list[0]", "oldSelf.x.y + spec.z")
	f.Add("spec", "list", "self.list.filter(e, e.name != '').map(e, self.list.map(f, f.name + e.name))")
	f.Add("spec.text", "", "self.?a[?0].optMap(x, x[1:])")
	f.Add("spec.list[*]", "name", "root.spec.text + string(index) + variables.text")
	f.Add("spec.map[*]", "", "tables.t[?self].orValue(inverted.t[index]) + variables.list[0].name")
	f.Add("", "spec", "Object.spec{list: variables.list, text: has(variables.list) ? dyn(variables) : tables}")
	f.Fuzz(func(t *testing.T, scope, field, rule string) {
		const fields = "list: {type: array, items: {type: object, properties: {name: {type: string}}}}\nmap: {type: object, additionalProperties: {type: string}}\ntext: {type: string}"
		d := widgets(t, fields, fields, "[]")
		d.Tables = []v1.ConversionTable{{Name: "t", Map: map[string]string{"a": "b", "c": "d"}}}
		d.Converters[0].Variables = []v1.ConversionVariable{{Name: "text", Expression: "self.spec.?text.orValue('')"}, {Name: "list", Expression: "self.spec.list"}}
		d.Converters[0].Rules = []v1.ConversionRule{{Scope: scope, Field: field, Rule: rule}}
		errs, _ := validate(d, nil)
		in := widget(t, "list: [{name: a}, {}]\nmap: {a: b}\ntext: x")
		before := in.DeepCopy()
		_, err := convert(t, d, in, "v2")
		if err != nil {
			checkError(t, err, len(errs) == 0)
		}
		if diff := cmp.Diff(before, in); diff != "" {
			t.Fatalf("the source changed: %s", diff)
		}
	})
}

// TestIdentity converts between versions with equal schemas and without rules.
func TestIdentity(t *testing.T) {
	for seed := range uint64(60) {
		g := newGenerator(seed)
		s := g.schema()
		d := g.definition()
		d.Versions[0].Schema, d.Versions[1].Schema = s, s.DeepCopy()
		d.Converters[0].Rules, d.Converters[1].Rules, d.Converters[0].Variables = nil, nil, nil
		if errs, warnings := validate(d, nil); len(errs)+len(warnings) > 0 {
			t.Fatalf("seed %d: %v, %v", seed, errs, warnings)
		}
		in := g.widget("v1", s, false)
		out, err := convert(t, d, in, "v2")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		back, err := convert(t, d, out, "v1")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(in.Object, back.Object); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestConcurrentConversions(t *testing.T) {
	d := widgets(t, gatewayFields, newGatewayFields, gatewayRules)
	converter := conversion.New(d)
	in := &unstructured.Unstructured{}
	if err := in.UnmarshalJSON([]byte(gateway)); err != nil {
		t.Fatal(err)
	}
	want, err := conversion.New(d).Convert(context.Background(), in, "v2")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				out, err := converter.Convert(context.Background(), in, "v2")
				if err != nil {
					t.Error(err)
					return
				}
				if diff := cmp.Diff(want.Object, out.Object); diff != "" {
					t.Error(diff)
					return
				}
			}
		})
	}
	group.Wait()
}
