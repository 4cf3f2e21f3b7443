// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// expensive returns a schema without limits in which n rules have the expression. Such rules are
// refused, but may have been stored by a server with other limits.
func expensive(t testing.TB, n int, expression string) (*structuralschema.Structural, apiextensions.SchemaDefaults) {
	t.Helper()
	structural, _ := parse(t, `
type: object
properties:
  text: {type: string}
  set: {type: object, additionalProperties: {type: boolean}}
`)
	var rules []v1.DefaultRule
	for i := range n {
		rules = append(rules, v1.DefaultRule{Field: fmt.Sprintf("set.f%02d", i), Rule: expression})
	}
	return structural, apiextensions.SchemaDefaults{"": rules}
}

func text(length int) map[string]any {
	return map[string]any{"text": strings.Repeat("a", length), "set": map[string]any{}}
}

// All evaluations for an object may cost 10M. Concatenation costs a tenth of the length of its
// result.
func TestRuntimeLimits(t *testing.T) {
	tests := []struct {
		name       string
		crd        string
		rules      int
		expression string
		set        int
		errs, last string
		// count is the number of errors of an object that has no defaults.
		count int
		// counted is the number of errors in the metric.
		counted float64
	}{
		{name: "cheap", crd: "cheap.example.com", rules: 2, expression: "self.text.size() > 0", set: 2},
		{name: "one evaluation", crd: "one.example.com", rules: 1, expression: "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22].all(i, (self.text + self.text).size() > 0)",
			errs: "set.f00: Invalid value: null", last: "cost limit exceeded", count: 1, counted: 1},
		{name: "all evaluations", crd: "all.example.com", rules: 30, expression: "(self.text + self.text).size() > 0", set: 20,
			errs: "set.f20: Invalid value: null", last: "the rules before it have used up the cost limit of an object", count: 1, counted: 1},
	}
	const length = 2_510_000
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			structural, defaults := expensive(t, test.rules, test.expression)
			before := counted(t, test.crd)
			rules := defaulting.New(test.crd, structural, defaults)
			object := text(length)
			rules.Default(object)
			if errs := rules.Validate(t.Context(), object, nil); len(errs) != test.count {
				t.Errorf("got errors %v with the defaults, want %d", errs, test.count)
			}
			set := len(object["set"].(map[string]any))
			if set != test.set {
				t.Errorf("got %d fields set, want %d", set, test.set)
			}
			if got := counted(t, test.crd) - before; got != test.counted {
				t.Errorf("got %v errors in the metric, want %v", got, test.counted)
			}
			errs := rules.Validate(t.Context(), text(length), nil)
			if len(errs) != test.count {
				t.Fatalf("got %d errors, want %d", len(errs), test.count)
			}
			if len(errs) == 0 {
				return
			}
			if !strings.HasPrefix(errs[0].Error(), test.errs) {
				t.Errorf("got error %q, want %q", errs[0], test.errs)
			}
			if last := errs[len(errs)-1].Error(); !strings.Contains(last, test.last) {
				t.Errorf("got error %q, want %q", last, test.last)
			}
		})
	}
}

// A rule that reads what a later rule sets leaves its field unset, which is no error.
func TestRulesOutOfOrder(t *testing.T) {
	_, rules := compile(t, `
type: object
x-kubernetes-default:
- {field: a, rule: "has(self.b) ? 'after b' : null"}
- {field: b, rule: "'b'"}
properties: {a: {type: string}, b: {type: string}}
`)
	object := map[string]any{}
	rules.Default(object)
	if errs := rules.Validate(t.Context(), object, nil); len(errs) > 0 || object["a"] != nil {
		t.Errorf("got %v, errors %v", object, errs)
	}
}

// An object may have many items that a rule fails for, and the rule may be long.
func TestManyErrors(t *testing.T) {
	_, rules := compile(t, `
type: object
properties:
  items:
    type: array
    maxItems: 5000
    items:
      type: object
      x-kubernetes-default: [{field: a, rule: "self.b + '`+strings.Repeat("x", 5000)+`'"}]
      properties: {a: {type: string}, b: {type: string, maxLength: 1}}
`)
	items := make([]any, 5000)
	for i := range items {
		items[i] = map[string]any{}
	}
	errs := rules.Validate(t.Context(), map[string]any{"items": items}, nil)
	if len(errs) != 21 {
		t.Fatalf("got %d errors, want 21", len(errs))
	}
	if !strings.Contains(errs[19].Error(), "items[19].a: ") || !strings.Contains(errs[20].Error(), "fail for 4980 more fields") {
		t.Errorf("the last errors are\n%v\n%v", errs[19], errs[20])
	}
	if size := len(errs.ToAggregate().Error()); size > 10_000 {
		t.Errorf("the errors have %d bytes", size)
	}
}

// Without an evaluation, nothing is known about the object.
func TestCancelledValidation(t *testing.T) {
	_, rules := compile(t, chains)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	errs := rules.Validate(ctx, map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{}}, nil)
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "context canceled") {
		t.Errorf("got errors %v, want one", errs)
	}
}

// counted returns celador_crd_default_errors_total for a CustomResourceDefinition and reason cost.
func counted(t *testing.T, crd string) float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "celador_crd_default_errors_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["crd"] == crd && labels["reason"] == "cost" {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// The limit of a version is the sum of its rules.
func TestVersionLimit(t *testing.T) {
	structural, _ := parse(t, `
type: object
properties:
  names: {type: array, maxItems: 500, items: {type: string, maxLength: 50}}
  set: {type: object, additionalProperties: {type: boolean}}
`)
	defaults := apiextensions.SchemaDefaults{}
	for i := range 40 {
		defaults[""] = append(defaults[""], v1.DefaultRule{Field: fmt.Sprintf("set.f%02d", i), Rule: "self.names.all(a, self.names.exists(b, a < b))"})
	}
	errs, _ := defaulting.Validate(structural, defaults, nil, false, root)
	if len(errs) != 1 || errs[0].Field != "schema" || !strings.Contains(errs[0].Detail, "estimated cost of all x-kubernetes-default of the version") {
		t.Errorf("got errors %v, want one for the version", errs)
	}
	if errs, _ := defaulting.Validate(structural, apiextensions.SchemaDefaults{"": defaults[""][:2]}, nil, false, root); len(errs) > 0 {
		t.Errorf("got errors %v for two rules, want none", errs)
	}
}

func TestSizeLimits(t *testing.T) {
	structural, _ := parse(t, `{type: object, properties: {set: {type: object, additionalProperties: {type: string}}}}`)
	rules := func(n int) (rules []v1.DefaultRule) {
		for i := range n {
			rules = append(rules, v1.DefaultRule{Field: fmt.Sprintf("set.f%d", i), Rule: "'a'"})
		}
		return rules
	}
	rule := func(length int) []v1.DefaultRule {
		return []v1.DefaultRule{{Field: "set.a", Rule: "'" + strings.Repeat("a", length-2) + "'"}}
	}
	name := func(length int) []v1.DefaultRule {
		return []v1.DefaultRule{{Field: "set." + strings.Repeat("a", length-4), Rule: "'a'"}}
	}
	for _, test := range []struct {
		name  string
		rules []v1.DefaultRule
		want  string
	}{
		{"500 rules", rules(500), ""},
		{"501 rules", rules(501), "schema: Forbidden: the version has 501 rules in x-kubernetes-default, and may have at most 500"},
		{"10 KiB", rule(10 << 10), ""},
		{"more than 10 KiB", rule(10<<10 + 1), "schema.x-kubernetes-default[0].rule: Too long: may not be more than 10240 bytes"},
		{"1 KiB", name(1 << 10), ""},
		{"more than 1 KiB", name(1<<10 + 1), "schema.x-kubernetes-default[0].field: Too long: may not be more than 1024 bytes"},
	} {
		errs, _ := defaulting.Validate(structural, apiextensions.SchemaDefaults{"": test.rules}, nil, false, root)
		if test.want == "" && len(errs) > 0 || test.want != "" && (len(errs) != 1 || errs[0].Error() != test.want) {
			t.Errorf("%s: got errors %v, want %q", test.name, errs, test.want)
		}
	}
}

// Rules are compiled at the first use, by whoever comes first.
func TestConcurrency(t *testing.T) {
	_, rules := compile(t, chains)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			object := map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{"port": int64(1)}}
			rules.Default(object)
			if url := object["spec"].(map[string]any)["url"]; url != "https://a.example.com:1" {
				t.Errorf("got URL %v", url)
			}
			rules.Validate(t.Context(), object, nil)
		})
	}
	group.Wait()
}

// A misplaced rule is an error at its place.
func TestMisplacedRules(t *testing.T) {
	structural, _ := parse(t, `{type: object, properties: {a: {type: string}}}`)
	defaults := apiextensions.SchemaDefaults{
		"/anyOf/0":              {{Field: "a", Rule: "'x'"}},
		"/properties/a/allOf/1": {{Rule: "'x'"}},
	}
	errs, _ := defaulting.Validate(structural, defaults, nil, false, root)
	want := []string{"schema.anyOf[0].x-kubernetes-default", "schema.properties[a].allOf[1].x-kubernetes-default"}
	if len(errs) != len(want) {
		t.Fatalf("got errors %v, want %d", errs, len(want))
	}
	for i := range want {
		if errs[i].Field != want[i] || !strings.Contains(errs[i].Detail, "not allowed in allOf, anyOf, oneOf and not") {
			t.Errorf("got error %v, want one at %s", errs[i], want[i])
		}
	}
	object := map[string]any{}
	defaulting.New("widgets.example.com", structural, defaults).Default(object)
	if len(object) > 0 {
		t.Errorf("misplaced rules have set %v", object)
	}
}
