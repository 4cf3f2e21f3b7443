// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"fmt"
	"strings"
	"testing"

	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// rich returns a schema with the rules, in the flow style of YAML, at the root, at spec, at the
// items of spec.list and at the fields of the template.
func rich(root, spec, item, name string) string {
	return fmt.Sprintf(`
type: object
x-kubernetes-default: [%s]
properties:
  metadata:
    type: object
    properties:
      name: {type: string, maxLength: 20}
  spec:
    type: object
    x-kubernetes-default: [%s]
    properties:
      name: {type: string, maxLength: 10}
      other: {type: string}
      number: {type: integer}
      static: {type: string, default: a}
      any: {x-kubernetes-preserve-unknown-fields: true}
      open: {type: object, x-kubernetes-preserve-unknown-fields: true}
      scalars: {type: array, items: {type: string}}
      limits: {type: object, additionalProperties: {type: integer}}
      template:
        type: object
        x-kubernetes-embedded-resource: true
        properties:
          spec:
            type: object
            properties:
              name: {type: string}
      list:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          x-kubernetes-default: [%s]
          properties:
            name:
              type: string
              x-kubernetes-default: [%s]
            value: {type: string}
            values: {type: array, items: {type: string}}
`, root, spec, item, name)
}

func TestValidate(t *testing.T) {
	const (
		atRoot = "schema.x-kubernetes-default[0]"
		atSpec = "schema.properties[spec].x-kubernetes-default[0]"
		atItem = "schema.properties[spec].properties[list].items.x-kubernetes-default[0]"
		atName = "schema.properties[spec].properties[list].items.properties[name].x-kubernetes-default[0]"
	)
	const inList = `move the rule to x-kubernetes-default in the schema of the entries of spec.list, and write "value"`
	tests := []struct {
		name                   string
		root, spec, item, prop string
		// path is the field path of the error. Empty if the rule is valid.
		path string
		// texts are parts of the error.
		texts []string
	}{
		{name: "a valid rule", spec: `{field: other, rule: self.name}`},
		// Kubernetes' estimate takes the text behind an optional for unlimited.
		{name: "a text behind an optional", spec: `{field: other, rule: "self.?name.orValue('x').upperAscii()"}`},
		{name: "a leading dot", spec: `{field: .other, rule: self.name}`},
		{name: "a field in the embedded resource", spec: `{field: template.spec.name, rule: self.name}`},
		{name: "a key of a map", spec: `{field: "limits['example.com/a']", rule: self.number}`},
		{name: "several rules of a field", spec: `{field: other, rule: "has(self.name) ? self.name : null"}, {field: other, rule: "'a'"}`},
		{name: "a condition", spec: `{field: other, rule: "has(self.name) ? (size(self.name) > 2 ? self.name : null) : null"}`},
		{name: "type and names of the resource", root: `{field: spec.name, rule: "self.apiVersion + self.kind + self.metadata.name + self.metadata.generateName"}`},

		{name: "no rule", spec: `{field: other, rule: " "}`, path: atSpec + ".rule", texts: []string{"Required value", "write a CEL expression"}},
		{name: "a syntax error", spec: `{field: other, rule: "self."}`, path: atSpec + ".rule", texts: []string{`Invalid value: "self."`, "Syntax error"}},
		{name: "a bare field name", spec: `{field: other, rule: name}`, path: atSpec + ".rule", texts: []string{"undeclared reference to 'name'", "write self.name"}},
		{name: "an unknown variable", spec: `{field: other, rule: nothing}`, path: atSpec + ".rule", texts: []string{"undeclared reference to 'nothing'"}},
		{name: "oldSelf", spec: `{field: other, rule: oldSelf.name}`, path: atSpec + ".rule", texts: []string{"undeclared reference to 'oldSelf'", "cannot read the object before an update, because they also run when an object is read"}},
		{name: "an unknown field in the expression", spec: `{field: other, rule: self.nothing}`, path: atSpec + ".rule", texts: []string{"undefined field 'nothing'"}},
		{name: "a misspelt field", spec: `{field: other, rule: self.nane}`, path: atSpec + ".rule", texts: []string{`Did you mean "name" instead of "nane"?`}},
		{name: "a field outside of self", item: `{field: value, rule: self.other}`, path: atItem + ".rule", texts: []string{"self is spec.list[*] and has no other. To read it, move the rule"}},
		{name: "metadata inside", spec: `{field: other, rule: self.metadata.name}`, path: atSpec + ".rule", texts: []string{"can read name and generateName, in the schema of the root"}},
		{name: "the variable of policies", spec: `{field: other, rule: object.spec.name}`, path: atSpec + ".rule", texts: []string{"There is no object: self is the value"}},
		{name: "an unknown constructor", spec: `{field: limits, rule: "Object.spec.limit{a: 1}"}`, path: atSpec + ".rule", texts: []string{"The schema has no object at spec.limit"}},
		{name: "labels in the expression", root: `{field: spec.other, rule: "self.metadata.labels['a']"}`, path: atRoot + ".rule", texts: []string{"undefined field 'labels'", "can read name and generateName"}},
		{name: "the wrong type", spec: `{field: other, rule: self.number}`, path: atSpec + ".rule", texts: []string{"the result cannot be the value of other", "string"}},
		{name: "the wrong type of a branch", spec: `{field: other, rule: "has(self.name) ? self.number : null"}`, path: atSpec + ".rule", texts: []string{"the result cannot be the value of other", "string"}},

		{name: "an unknown field", spec: `{field: nothing, rule: "'a'"}`, path: atSpec + ".field", texts: []string{`Invalid value: "nothing"`}},
		{name: "the path from the root", spec: `{field: spec.other, rule: "'a'"}`, path: atSpec + ".field", texts: []string{`Invalid value: "spec.other": the path is relative to the schema of the rule, which is in spec: write "other"`}},
		{name: "a malformed path", spec: `{field: "other[", rule: "'a'"}`, path: atSpec + ".field", texts: []string{"Invalid value"}},
		{name: "an index", spec: `{field: "list[0].value", rule: "'a'"}`, path: atSpec + ".field", texts: []string{inList}},
		{name: "a pattern", spec: `{field: "list[*].value", rule: "'a'"}`, path: atSpec + ".field", texts: []string{inList}},
		{name: "a field of list items", spec: `{field: "list.value", rule: "'a'"}`, path: atSpec + ".field", texts: []string{inList}},
		{name: "every value of a map", spec: `{field: "limits[*]", rule: "1"}`, path: atSpec + ".field", texts: []string{"entries of lists and maps are never unset"}},
		{name: "a field without a schema", spec: `{field: "open.a", rule: "'a'"}`, path: atSpec + ".field", texts: []string{"Invalid value"}},

		{name: "a static default", spec: `{field: static, rule: "'a'"}`, path: atSpec + ".field", texts: []string{"Forbidden", "remove either default or this rule"}},
		{name: "metadata", root: `{field: metadata.name, rule: "'a'"}`, path: atRoot + ".field", texts: []string{"Forbidden", "metadata cannot be defaulted"}},
		{name: "metadata as a whole", root: `{field: metadata, rule: "self.metadata"}`, path: atRoot + ".field", texts: []string{"metadata cannot be defaulted"}},
		{name: "the kind", root: `{field: kind, rule: "'a'"}`, path: atRoot + ".field", texts: []string{"kind"}},
		{name: "metadata of an embedded resource", spec: `{field: template.metadata.name, rule: "'a'"}`, path: atSpec + ".field", texts: []string{"metadata cannot be defaulted"}},
		{name: "the type of an embedded resource", spec: `{field: template.apiVersion, rule: "'a'"}`, path: atSpec + ".field", texts: []string{"apiVersion"}},
		{name: "a key of the list", item: `{field: name, rule: "'a'"}`, path: atItem + ".field", texts: []string{"Forbidden", "is a key of the list"}},
		{name: "a key of the list in its schema", prop: `{rule: "'a'"}`, path: atName + ".field", texts: []string{"Forbidden", "is a key of the list"}},
		{name: "the object itself", root: `{rule: "self"}`, path: atRoot + ".field", texts: []string{"Required value", "the object itself is never unset"}},
		{name: "the item itself", item: `{rule: "self"}`, path: atItem + ".field", texts: []string{"Required value", "items of lists and values of maps are never unset"}},

		{name: "an expensive rule", spec: `{field: other, rule: "self.list.all(a, self.list.all(b, self.list.all(c, a.name != b.name && c.name != b.name))) ? 'a' : 'b'"}`, path: atSpec + ".rule",
			texts: []string{"Forbidden", "estimated rule cost exceeds budget by factor of", "maxItems"}},
		{name: "an expensive rule of list items", item: `{field: value, rule: "lists.range(100).all(a, lists.range(100).all(b, a >= b)) ? self.name : null"}`, path: atItem + ".rule",
			texts: []string{"Forbidden", "estimated rule cost exceeds budget by factor of"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			structural, defaults := parse(t, rich(test.root, test.spec, test.item, test.prop))
			errs, _ := defaulting.Validate(structural, defaults, nil, false, root)
			if test.path == "" {
				if len(errs) > 0 {
					t.Fatal(errs)
				}
				return
			}
			if len(errs) == 0 || errs[0].Field != test.path {
				t.Fatalf("got errors %v, want one at %s", errs, test.path)
			}
			for _, text := range test.texts {
				if !strings.Contains(errs[0].Error(), text) {
					t.Errorf("got error %q, want %q in it", errs[0], text)
				}
			}
			t.Log(errs[0])
			// Stored rules that are invalid set nothing.
			object := object(t, `{spec: {list: [{name: a}]}}`)
			defaulting.New("widgets.example.com", structural, defaults).Default(object)
		})
	}
}

// A request writes either the status or everything else.
func TestStatusSubresource(t *testing.T) {
	const reads, writes = "It must not read self.status, nor self as a whole", "It must read only self.status, self.metadata, self.apiVersion and self.kind"
	for rule, want := range map[string]string{
		`{field: spec.a, rule: "self.spec.b + self.metadata.name"}`:              "",
		`{field: status.a, rule: "self.status.b + self.metadata.name"}`:          "",
		`{field: status.a, rule: "self.kind + self.apiVersion"}`:                 "",
		`{field: status, rule: "Object.status{a: self.metadata.name}"}`:          "",
		`{field: spec.a, rule: "has(self.status) ? 'a' : 'b'"}`:                  reads,
		`{field: spec.a, rule: "self.status.b"}`:                                 reads,
		`{field: spec.a, rule: "self == self ? 'a' : 'b'"}`:                      reads,
		`{field: status.a, rule: "self.spec.b"}`:                                 writes,
		`{field: status.a, rule: "self == self ? 'a' : 'b'"}`:                    writes,
		`{field: status, rule: "has(self.spec) ? Object.status{a: 'b'} : null"}`: writes,
	} {
		structural, defaults := parse(t, `
type: object
x-kubernetes-default: [`+rule+`]
properties:
  spec: &half
    type: object
    maxProperties: 5
    properties: {a: {type: string, maxLength: 5}, b: {type: string, maxLength: 5}}
  status: *half
`)
		if errs, _ := defaulting.Validate(structural, defaults, nil, false, root); len(errs) > 0 {
			t.Errorf("%s: got errors %v without the subresource", rule, errs)
		}
		errs, _ := defaulting.Validate(structural, defaults, nil, true, root)
		if want == "" && len(errs) > 0 || want != "" && (len(errs) != 1 || errs[0].Field != "schema.x-kubernetes-default[0].rule" || !strings.Contains(errs[0].Detail, want)) {
			t.Errorf("%s: got errors %v, want %q", rule, errs, want)
		}
	}
}
