// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// definition returns a CRDSpec with versions and converters, which are written as "v1>v2".
func definition(t testing.TB, versions, edges string) *conversion.CRDSpec {
	t.Helper()
	d := &conversion.CRDSpec{Kind: schema.GroupKind{Group: "example.com", Kind: "Widget"}}
	for _, name := range strings.Fields(versions) {
		d.Versions = append(d.Versions, conversion.Version{Name: name, Schema: spec(t, "text: {type: string, maxLength: 100}")})
	}
	for _, edge := range strings.Fields(edges) {
		from, to, _ := strings.Cut(edge, ">")
		d.Converters = append(d.Converters, v1.Converter{FromVersion: from, ToVersion: to, Rules: []v1.ConversionRule{
			{Field: "spec.text", Rule: "self.spec.text + '>" + to + "'"},
		}})
	}
	return d
}

func TestChains(t *testing.T) {
	const path = "spec.conversion.converters"
	missing := func(from, to string) string {
		return path + ": Required value: no converter, and no chain of converters, leads from " + from + " to " + to + ": add a converter with fromVersion " + from +
			" and toVersion " + to + "; 'rules: []' keeps all fields that both versions have"
	}
	tests := []struct {
		name, versions, edges string
		// path is the way from v1 to the last version.
		path string
		errs []string
	}{
		{"one version", "v1", "", "", nil},
		{"direct", "v1 v2", "v1>v2 v2>v1", "v1>v2", nil},
		{"hub", "v1 v2 v3", "v1>v2 v2>v1 v2>v3 v3>v2", "v1>v2>v3", nil},
		{"shorter chain", "v1 v2 v3", "v1>v2 v2>v3 v3>v2 v2>v1 v1>v3", "v1>v3", nil},
		{"loop in one direction", "v1 v2 v3 v4", "v1>v2 v2>v3 v3>v4 v4>v1", "v1>v2>v3>v4", nil},
		{"no converters", "v1 v2", "", "", []string{path +
			": Required value: the strategy ConversionRules needs a converter for each pair of versions, or chains of converters; 'rules: []' keeps all fields that both versions have"}},
		{"one direction", "v1 v2", "v1>v2", "v1>v2", []string{missing("v2", "v1")}},
		{"island", "v1 v2 v3", "v1>v2 v2>v1", "", []string{missing("v1", "v3"), missing("v2", "v3"), missing("v3", "v1"), missing("v3", "v2")}},
		{"two chains", "v1 v2 v3 v4", "v1>v2 v1>v3 v2>v4 v3>v4 v4>v1 v4>v2 v4>v3 v3>v1 v2>v1 v2>v3 v3>v2", "", []string{path +
			`: Invalid value: "v1 -> v4": several shortest chains of converters lead from v1 to v4: v1 -> v2 -> v4 and v1 -> v3 -> v4. Add a converter with fromVersion v1 and toVersion v4, or remove one of the chains`}},
		{"many missing", "v1 v2 v3 v4", "v1>v2", "", []string{
			missing("v1", "v3"), missing("v1", "v4"), missing("v2", "v1"), missing("v2", "v3"), missing("v2", "v4"),
			missing("v3", "v1"), missing("v3", "v2"), missing("v3", "v4"), missing("v4", "v1"), missing("v4", "v2"),
			path + ": Required value: 1 more pairs of versions have no converter",
		}},
		{"unknown version", "v1 v2", "v1>v2 v2>v1 v1>v3", "v1>v2", []string{path + `[2].toVersion: Unsupported value: "v3": supported values: "v1", "v2"`}},
		{"no version", "v1 v2", "v1>v2 v2>v1 >v1", "v1>v2", []string{path + "[2].fromVersion: Required value: must be the name of a version"}},
		{"same version", "v1 v2", "v1>v2 v2>v1 v1>v1", "v1>v2", []string{path + `[2].toVersion: Invalid value: "v1": must differ from fromVersion: objects are not converted to the version that they have`}},
		{"duplicate", "v1 v2", "v1>v2 v2>v1 v1>v2", "v1>v2", []string{path + `[2]: Duplicate value: "v1 -> v2": ` + path + "[0] has the same versions: put all rules into one converter"}},
		{"too many", "v1 v2", strings.Repeat("v1>v2 ", 101), "", []string{path + ": Too many: 101: must have at most 100 items"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := definition(t, test.versions, test.edges)
			errs, _ := validate(d, nil)
			if diff := cmp.Diff(test.errs, errs); diff != "" {
				t.Errorf("errors: %s", diff)
			}
			if test.path == "" {
				return
			}
			versions := strings.Fields(test.versions)
			out, err := convert(t, d, widget(t, "text: v1"), versions[len(versions)-1])
			if err != nil {
				t.Fatal(err)
			}
			if got := out.Object["spec"].(map[string]any)["text"]; got != test.path {
				t.Errorf("converted along %s, want %s", got, test.path)
			}
		})
	}
}

// A converter in the middle of a chain must not see what its version lacks.
func TestChainPrunes(t *testing.T) {
	d := definition(t, "v1 v2 v3", "v1>v2 v2>v3 v3>v2 v2>v1")
	d.Converters[0].Rules, d.Converters[1].Rules = nil, nil
	fields := "text: {type: string}\nlost: {type: string}\nnested: {type: object, properties: {kept: {type: string}, lost: {type: string}}}"
	d.Versions[0].Schema, d.Versions[2].Schema = spec(t, fields), spec(t, fields)
	d.Versions[1].Schema = spec(t, "text: {type: string}\nnested: {type: object, properties: {kept: {type: string}}}")
	in := widget(t, "text: a\nlost: b\nnested: {kept: c, lost: d}")
	before := in.DeepCopy()
	out, err := convert(t, d, in, "v3")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"text": "a", "nested": map[string]any{"kept": "c"}}
	if diff := cmp.Diff(want, out.Object["spec"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, in); diff != "" {
		t.Errorf("input changed: %s", diff)
	}
}

// All converters of a chain share the cost that one object may have.
func TestChainSharesCost(t *testing.T) {
	d := definition(t, "v1 v2 v3", "v1>v2 v2>v3 v3>v2 v2>v1")
	for i := range d.Versions {
		d.Versions[i].Schema = spec(t, "text: {type: string}\nlist: {type: array, items: {type: integer}}")
	}
	for i := range d.Converters {
		d.Converters[i].Rules = []v1.ConversionRule{{Field: "spec.text", Rule: "string(self.spec.list.all(a, self.spec.list.all(b, true)))"}}
	}
	in := widget(t, "list: ["+repeat("1, ", 1600)+"]")
	if _, err := convert(t, d, in, "v2"); err != nil {
		t.Fatal(err)
	}
	_, err := convert(t, d, in, "v3")
	if err == nil || !contains(err.Error(), `from v2 to v3: spec.conversion.converters[1].rules[0] (field "spec.text"): the rules exceed the cost that the conversion of one object may have (10000000)`) {
		t.Error(err)
	}
}

func TestValidateUpdate(t *testing.T) {
	const (
		fields = "text: {type: string}\nlist: {type: array, items: {type: string}}"
		costly = "[{field: spec.text, rule: 'string(self.spec.list.all(a, self.spec.list.all(b, self.spec.list.all(c, a != b))))'}]"
	)
	old := widgets(t, fields, fields, costly)
	if errs, _ := validate(old, nil); len(errs) == 0 {
		t.Fatal("the rule is cheap")
	}
	if errs, warnings := validate(widgets(t, fields, fields, costly), old); len(errs)+len(warnings) > 0 {
		t.Errorf("nothing changed: %v, %v", errs, warnings)
	}
	reverse := widgets(t, fields, fields, costly)
	reverse.Converters[1].Rules = conversionRules(t, "[{field: spec.text, rule: self.spec.txt}]")
	if errs, _ := validate(reverse, old); len(errs) != 1 || !strings.HasPrefix(errs[0], "spec.conversion.converters[1].rules[0].rule: ") {
		t.Errorf("the other converter changed: %v", errs)
	}
	if errs, _ := validate(widgets(t, fields, fields+"\nmore: {type: string}", costly), old); len(errs) == 0 {
		t.Error("a schema changed")
	}
	added := widgets(t, fields, fields, costly)
	added.Converters[0].Rules = append(added.Converters[0].Rules, v1.ConversionRule{Field: "spec.text", Rule: "'x'"})
	if errs, _ := validate(added, old); len(errs) == 0 {
		t.Error("a rule was added")
	}
}

func TestValidateManyRules(t *testing.T) {
	d := widgets(t, "{}", "{}", "[]")
	d.Converters[0].Rules = make([]v1.ConversionRule, 501)
	if errs, _ := validate(d, nil); !slices.Equal(errs, []string{"spec.conversion.converters[0].rules: Too many: 501: must have at most 500 items"}) {
		t.Error(errs)
	}
	d = definition(t, "v1 v2 v3", "v1>v2 v2>v3 v3>v2 v2>v1 v1>v3")
	for i := range d.Converters {
		d.Converters[i].Rules = make([]v1.ConversionRule, 401)
	}
	if errs, _ := validate(d, nil); !slices.Equal(errs, []string{"spec.conversion.converters: Forbidden: the converters have 2005 rules and variables, and may have at most 2000"}) {
		t.Error(errs)
	}
}

// A version without a valid schema has errors of its own.
func TestValidateWithoutSchema(t *testing.T) {
	d := widgets(t, "{}", "{}", "[{field: spec.text, rule: unknown}]")
	d.Versions[1].Schema = nil
	if errs, warnings := validate(d, nil); len(errs)+len(warnings) > 0 {
		t.Errorf("%v, %v", errs, warnings)
	}
	if _, err := convert(t, d, widget(t, "{}"), "v2"); err == nil || !contains(err.Error(), "a version has no structural schema") {
		t.Error(err)
	}
}
