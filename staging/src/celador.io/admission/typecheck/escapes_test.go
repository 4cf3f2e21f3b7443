// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/kube-openapi/pkg/validation/spec"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/typecheck"
)

// escapable are names of each kind that rules of CustomResourceDefinitions escape, each keyword of
// CEL included.
var escapable = append([]string{"a-b", "a.b", "a/b", "a__b", "app.kubernetes.io/name-of-it", "-", "in-in"}, keywords...)

var keywords = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let",
	"loop", "package", "namespace", "return", "var", "void", "while",
}

// spelledFor returns a name as expressions of policies spell it.
func spelledFor(name string) string {
	if regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`).MatchString(name) && name != "true" && name != "false" && name != "null" && name != "in" {
		return name
	}
	return "`" + name + "`"
}

// reads are the ways to read a field %[2]s of a value %[1]s, each true if the field is 'v'.
var reads = map[string]string{
	"selection":           "%[1]s.%[2]s == 'v'",
	"call":                "%[1]s.%[2]s.startsWith('v')",
	"has":                 "has(%[1]s.%[2]s)",
	"guarded":             "has(%[1]s.%[2]s) && %[1]s.%[2]s == 'v'",
	"optional":            "%[1]s.?%[2]s.orValue('') == 'v'",
	"optional operand":    "optional.of(%[1]s).%[2]s.orValue('') == 'v'",
	"optional, has":       "%[1]s.?%[2]s.hasValue()",
	"list and comparison": "[%[1]s.%[2]s].exists(x, x == 'v')",
}

// fieldsOf returns the schema of an object with a field of each name, directly and in an item, a
// map and so on.
func fieldsOf(names []string) *spec.Schema {
	named := map[string]spec.Schema{}
	for _, name := range names {
		named[name] = *spec.StringProperty()
	}
	part := objectOf(named)
	inside := map[string]spec.Schema{
		"part":    *part,
		"parts":   *spec.ArrayProperty(part),
		"byKey":   *spec.MapProperty(spec.StringProperty()),
		"parted":  *spec.MapProperty(part),
		"open":    extended(objectOf(map[string]spec.Schema{"x": *spec.StringProperty()}), "x-kubernetes-preserve-unknown-fields"),
		"untyped": extended(&spec.Schema{}, "x-kubernetes-preserve-unknown-fields"),
	}
	return widgetSpec(inside)
}

func contentOf(name string) map[string]any {
	field := func() map[string]any { return map[string]any{name: "v"} }
	return map[string]any{
		"metadata": map[string]any{"labels": field(), "annotations": field()},
		"spec": map[string]any{
			"part": field(), "parts": []any{field()}, "byKey": field(), "parted": map[string]any{"a": field()}, "open": field(), "untyped": field(),
		},
	}
}

// TestEscapes reads fields with each kind of name in all ways from values of all kinds of types.
// Expressions that escape the name have a finding with the right spelling. Expressions with that
// spelling work.
func TestEscapes(t *testing.T) {
	checker := checker(t, mapperFor(widget), schemas{widget: fieldsOf(escapable)})
	widgets := rule("example.com", "v1", "widgets")
	values := map[string][]string{
		"of the type":   {"object.spec.part", "object.spec.parts[0]", "object.spec.parted.a", "object.spec.parted['a']", "object.spec['part']"},
		"of any type":   {"object.spec.byKey", "object.metadata.labels", "object.metadata.annotations", "object.spec.open", "object.spec.untyped"},
		"of a variable": {"variables.part", "variables.whole.spec.part", "variables.labels"},
		"of params":     {"params.spec.part", "params.metadata.labels"},
	}
	variables := variables("part", "object.spec.part", "whole", "object", "labels", "object.metadata.labels")
	for _, name := range escapable {
		escaped, ok := apiservercel.Escape(name)
		if !ok || escaped == name {
			t.Fatalf("%s is not escaped", name)
		}
		content := contentOf(name)
		for place, operands := range values {
			for _, operand := range operands {
				for form, read := range reads {
					for where, change := range map[string][]func(*v1.ValidatingAdmissionPolicySpec){
						"checked":         {widgets, variables, params("example.com/v1", "Widget")},
						"wildcard":        {rule("*", "*", "*"), variables, params("example.com/v1", "Widget")},
						"unknown params":  {widgets, variables, params("example.com/v9", "Gadget")},
						"unknown anyway":  {rule("example.com", "v9", "gadgets"), variables, params("example.com/v9", "Gadget")},
						"several, one of": {widgets, rule("example.com", "v9", "gadgets"), variables, params("example.com/v1", "Widget")},
					} {
						wrong := policy(fmt.Sprintf(read, operand, escaped), change...)
						right := policy(fmt.Sprintf(read, operand, spelledFor(name)), change...)
						title := fmt.Sprintf("%s, %s, %s: %s", place, form, where, wrong.Spec.Validations[0].Expression)

						checkSpelling(t, title, checker.CheckValidating(wrong), escaped, name)
						if found := checker.CheckValidating(right).Findings; len(found) > 0 {
							t.Errorf("%s: right spelling has findings %v", title, found)
						}
						if where != "checked" {
							continue
						}
						if value, err := valueFor(t, wrong, content, content); err == nil && value == types.True {
							t.Errorf("%s: is true for the field %s", title, name)
						}
						if value, err := valueFor(t, right, content, content); err != nil || value != types.True {
							t.Errorf("%s: right spelling evaluates to %v, %v", title, value, err)
						}
					}
				}
			}
		}
	}
}

func checkSpelling(t *testing.T, title string, result *typecheck.Result, escaped, name string) {
	t.Helper()
	found := result.Enforceable().Findings
	if len(found) != 1 {
		t.Errorf("%s: %d findings: %v", title, len(found), found)
		return
	}
	if message := found[0].Message; !strings.Contains(message, "'"+escaped+"'") || !strings.Contains(message, "write "+spelledFor(name)) {
		t.Errorf("%s: no right spelling in %s", title, message)
	}
	if len(found[0].Issues) == 0 || !strings.Contains(found[0].Issues[0].Message, "write "+spelledFor(name)) || found[0].Issues[0].Column < 1 {
		t.Errorf("%s: no right spelling in issues %v", title, found[0].Issues)
	}
}

// oldObject, comprehensions and keys are read like object.
func TestEscapesElsewhere(t *testing.T) {
	checker := checker(t, mapperFor(widget), schemas{widget: fieldsOf(escapable)})
	for _, name := range escapable {
		escaped, _ := apiservercel.Escape(name)
		for _, source := range []string{
			"oldObject.spec.part.%s == 'v'",
			"!has(oldObject.metadata.labels.%s)",
			"object.spec.parts.all(p, p.%s == 'v')",
			"object.spec.parts.map(p, p.%s).size() == 1",
			"object.spec.parts.exists(p, has(p.%s))",
			"object.spec.?part.?%s.hasValue()",
			"object.spec.?part.%s.hasValue()",
			"object.?spec.untyped.%s.hasValue()",
			"(true ? object.spec.part : object.spec.parts[0]).%s == 'v'",
		} {
			title := fmt.Sprintf(source, escaped)
			checkSpelling(t, title, checker.CheckValidating(policy(title, rule("example.com", "v1", "widgets"))), escaped, name)
			right := fmt.Sprintf(source, spelledFor(name))
			if found := checker.CheckValidating(policy(right, rule("example.com", "v1", "widgets"))).Findings; len(found) > 0 {
				t.Errorf("%s: %v", right, found)
			}
		}
		for source, want := range map[string]bool{
			"object.spec.part['%s'] == 'v'":              true,
			"object.spec.part[?'%s'].hasValue()":         true,
			"'%s' in object.spec.part":                   true,
			"object.metadata.labels['%s'] == 'v'":        false,
			"'%s' in object.metadata.labels":             false,
			"object.spec.untyped['%s'] == 'v'":           false,
			"object.metadata.name == '%s'":               false,
			"{'%s': 1}.size() == 1":                      false,
			"object.spec.open[?'%s'].hasValue() == true": false,
		} {
			title := fmt.Sprintf(source, escaped)
			found := checker.CheckValidating(policy(title, rule("example.com", "v1", "widgets"))).Findings
			if (len(found) > 0) != want {
				t.Errorf("%s: findings %v, want some: %v", title, found, want)
			}
			if want && len(found) > 0 && !strings.Contains(found[0].Message, "write '"+name+"'") {
				t.Errorf("%s: no right spelling in %s", title, found[0].Message)
			}
		}
	}
}

// All expressions of a policy are checked.
func TestEscapesInEachField(t *testing.T) {
	const source = "object.metadata.labels.a__dash__b"
	p := policy(source+" == 'a'", message(source), condition(source+" == 'a'"), annotation(source), variables("v", source))
	var fields []string
	for _, f := range checker(t, mapperFor(deployment), builtIn).CheckValidating(p).Findings {
		fields = append(fields, f.Field)
	}
	want := "spec.matchConditions[0].expression spec.variables[0].expression spec.validations[0].expression spec.validations[0].messageExpression spec.auditAnnotations[0].valueExpression"
	if got := strings.Join(fields, " "); got != want {
		t.Errorf("got findings for %s, want %s", got, want)
	}
}

// A field, a variable or a key with such a name exists if it is declared.
func TestEscapesThatAreNames(t *testing.T) {
	described := schemas{widget: widgetSpec(map[string]spec.Schema{"a__dash__b": *spec.StringProperty(), "a-b": *spec.Int64Property()})}
	widgets := rule("example.com", "v1", "widgets")
	for _, source := range []string{
		"object.spec.a__dash__b == 'v' && has(object.spec.a__dash__b) && object.spec.?a__dash__b.hasValue()",
		"object.spec['a__dash__b'] == 'v' && 'a__dash__b' in object.spec",
		"object.spec.`a-b` == 1",
		"variables.a__dash__b == 1 && variables.__namespace__ == 1",
		"object.metadata.labels.a__b == 'v' && object.metadata.labels.__a == 'v' && object.metadata.labels.a__dashes__b == 'v'",
	} {
		p := policy(source, widgets, variables("a__dash__b", "1", "__namespace__", "1"))
		if found := checker(t, mapperFor(widget), described).CheckValidating(p).Findings; len(found) > 0 {
			t.Errorf("%s: %v", source, found)
		}
	}
	for _, source := range []string{"Object{spec: Object.spec{a__dash__b: 'v'}}", "Object{spec: Object.spec{`a-b`: 1}}"} {
		if found := checker(t, mapperFor(widget), described).CheckMutating(mutatingPolicy([]v1.Mutation{applyConfiguration(source)}, widgets)).Findings; len(found) > 0 {
			t.Errorf("%s: %v", source, found)
		}
	}
}

func TestEscapesInMutations(t *testing.T) {
	checker := checker(t, mapperFor(widget), schemas{widget: fieldsOf(escapable)})
	for _, name := range escapable {
		escaped, _ := apiservercel.Escape(name)
		for _, source := range []string{
			"Object{spec: Object.spec{part: Object.spec.part{%s: 'v'}}}",
			"Object{spec: Object.spec{parts: [Object.spec.parts{%s: 'v'}]}}",
			"Object{spec: Object.spec{part: Object.spec.part{?%s: optional.of('v')}}}",
			"Object{spec: Object.spec{open: Object.spec.open{%s: 'v'}}}",
			"Object{spec: Object.spec{untyped: Object.spec.untyped{%s: 'v'}}}",
			"Object{metadata: Object.metadata{labels: Object.metadata.labels{%s: 'v'}}}",
			"Object{metadata: Object.metadata{labels: {'a': object.metadata.labels.%s}}}",
		} {
			for where, rule := range map[string]func(*v1.ValidatingAdmissionPolicySpec){"checked": rule("example.com", "v1", "widgets"), "wildcard": rule("*", "*", "*")} {
				title := fmt.Sprintf(source, escaped)
				checkSpelling(t, where+": "+title, checker.CheckMutating(mutatingPolicy([]v1.Mutation{applyConfiguration(title)}, rule)), escaped, name)
				right := fmt.Sprintf(source, spelledFor(name))
				if found := checker.CheckMutating(mutatingPolicy([]v1.Mutation{applyConfiguration(right)}, rule)).Findings; len(found) > 0 {
					t.Errorf("%s: %v", right, found)
				}
			}
		}
		title := fmt.Sprintf("Object{metadata: Object.metadata{labels: Object.metadata.labels.%s{}}}", escaped)
		found := checker.CheckMutating(mutatingPolicy([]v1.Mutation{applyConfiguration(title)}, rule("example.com", "v1", "widgets"))).Findings
		if len(found) != 1 || !strings.Contains(found[0].Message, "write a map for the field "+spelledFor(name)) {
			t.Errorf("%s: %v", title, found)
		}
		patch := fmt.Sprintf("[JSONPatch{op: 'add', path: '/spec/x', value: object.spec.part.%s}]", escaped)
		checkSpelling(t, patch, checker.CheckMutating(mutatingPolicy([]v1.Mutation{jsonPatch(patch)}, rule("example.com", "v1", "widgets"))), escaped, name)
	}
}
