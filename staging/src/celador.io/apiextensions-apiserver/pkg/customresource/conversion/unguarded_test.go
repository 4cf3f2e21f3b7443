// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"strings"
	"testing"

	v1 "celador.io/api/apiextensions/v1"
)

// TestUnguarded compares the warnings about reads of values that objects may lack.
func TestUnguarded(t *testing.T) {
	const fields = `
required: {type: object, required: [a, nullable], properties: {a: {type: string}, b: {type: string}, nullable: {type: string, nullable: true}}}
defaulted: {type: string, default: x}
list: {type: array, maxItems: 9, items: {type: object, required: [a], properties: {a: {type: string, maxLength: 9}, b-c: {type: string, maxLength: 9}}}}
open: {x-kubernetes-preserve-unknown-fields: true}
text: {type: string}
`
	for _, test := range []struct {
		scope, rule string
		// reads is the list of reads in the warning. Empty if there is none.
		reads string
		// advice is the end of the warning, or empty.
		advice string
	}{
		{rule: "self.metadata.name + self.metadata.namespace + self.kind + self.apiVersion"},
		{rule: "self.metadata.annotations['a']", reads: "self.metadata.annotations.a", advice: "here with self.metadata.?annotations.a"},
		{rule: "self.metadata.?annotations[?'a']"},
		{rule: "self.metadata.generateName", reads: "self.metadata.generateName", advice: "here with self.metadata.?generateName"},
		{rule: "self.spec.text", reads: "self.spec.text", advice: "here with self.?spec.text"},
		{rule: "self.?spec.?text"},
		{rule: "has(self.spec) && has(self.spec.text) ? self.spec.text : null"},
		{scope: "spec", rule: "self.defaulted"},
		{scope: "spec", rule: "self.required.a", reads: "self.required", advice: "here with self.?required"},
		{scope: "spec", rule: "has(self.required) ? self.required.a : null"},
		{scope: "spec", rule: "has(self.required) ? self.required.nullable : null", reads: "self.required.nullable"},
		{scope: "spec", rule: "has(self.required) ? self.required.b : null", reads: "self.required.b"},
		{scope: "spec", rule: "self.?list.optMap(l, l.map(i, i.a).join()).orValue('')"},
		{scope: "spec", rule: "self.?list.optMap(l, l.map(i, i.b__dash__c).join()).orValue('')", reads: "self.list[*].b-c"},
		{scope: "spec", rule: "has(self.open) ? string(self.open) : null"},
		{scope: "spec", rule: "has(self.open) ? string(self.open.a) : null", reads: "self.open.a"},
		{scope: "spec", rule: "has(self.open) && has(self.open.a) ? string(self.open.a) : null"},
	} {
		name := "text"
		if test.scope == "" {
			name = "spec.text"
		}
		t.Run(test.rule, func(t *testing.T) {
			d := widgets(t, fields, fields, "[{scope: '"+test.scope+"', field: "+name+", rule: "+quote(test.rule)+"}]")
			_, warnings := validate(d, nil)
			const start = rules + ": objects in v1 that lack what a rule reads cannot be converted: rules[0] reads "
			got, advice := "", ""
			for _, warning := range warnings {
				if rest, ok := strings.CutPrefix(warning, start); ok {
					got, advice, _ = strings.Cut(rest, ". ")
				}
			}
			if got != test.reads || !strings.HasSuffix(advice, test.advice) {
				t.Errorf("got %q and %q, want %q and %q", got, advice, test.reads, test.advice)
			}
		})
	}
}

// TestUnguardedVariables compares the warnings about reads through root and variables.
func TestUnguardedVariables(t *testing.T) {
	const fields = `
required: {type: object, required: [a], properties: {a: {type: string}, b: {type: string}}}
list: {type: array, maxItems: 9, items: {type: object, required: [a], properties: {a: {type: string}, b-c: {type: string}}}}
text: {type: string}
`
	for _, test := range []struct {
		scope, variable, rule string
		// reads is the list of reads in the warning. Empty if there is none.
		reads string
		// advice is the end of the warning, or empty.
		advice string
	}{
		{scope: "spec", rule: "root.spec.text", reads: "root.spec.text", advice: "here with root.?spec.text"},
		{scope: "spec", rule: "root.metadata.name + root.spec.?text.orValue('')"},
		{scope: "spec.list[*]", rule: "root.spec.list.map(i, i.b__dash__c).join()", reads: "root.spec.list[*].b-c"},
		{scope: "spec.list[*]", rule: "has(self.b__dash__c) ? root.spec.list[index].a : null"},
		{scope: "spec.list[*]", rule: "root.spec.list.all(i, has(i.b__dash__c)) ? self.b__dash__c : null"},
		{scope: "spec", variable: "self.spec.text", rule: "variables.v", reads: "self.spec.text in variables.v", advice: "here with self.?spec.text"},
		{scope: "spec", variable: "self.spec.text", rule: "has(root.spec.text) ? variables.v : null"},
		{scope: "spec", variable: "self.spec.text", rule: "has(self.text) ? variables.v : null"},
		{scope: "spec", variable: "self.?spec.?text.orValue('')", rule: "variables.v"},
		{scope: "spec", variable: "self.spec.required", rule: "variables.v.a", reads: "self.spec.required in variables.v"},
		{scope: "spec", variable: "self.?spec.?required", rule: "variables.v.hasValue() ? variables.v.value().a : null"},
		{scope: "spec", variable: "self.?spec.?required", rule: "variables.v.optMap(r, r.b)", reads: "root.spec.required.b", advice: "here with root.?spec.required.b"},
		{variable: "self.?spec.?list.orValue([])", rule: "variables.v.map(i, i.a).join()"},
		{variable: "self.spec.?list.orValue([])", rule: "variables.v.map(i, i.a).join()", reads: "self.spec in variables.v"},
	} {
		field, name := "text", test.rule
		if test.scope == "" {
			field = "spec.text"
		}
		if test.scope == "spec.list[*]" {
			field = "a"
		}
		if test.variable != "" {
			name += " with " + test.variable
		}
		t.Run(name, func(t *testing.T) {
			d := widgets(t, fields, fields, "[{scope: '"+test.scope+"', field: "+field+", rule: "+quote(test.rule)+"}]")
			if test.variable != "" {
				d.Converters[0].Variables = []v1.ConversionVariable{{Name: "v", Expression: test.variable}}
			}
			errs, warnings := validate(d, nil)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			const start = rules + ": objects in v1 that lack what a rule reads cannot be converted: rules[0] reads "
			got, advice := "", ""
			for _, warning := range warnings {
				if rest, ok := strings.CutPrefix(warning, start); ok {
					got, advice, _ = strings.Cut(rest, ". ")
				}
			}
			if got != test.reads || !strings.HasSuffix(advice, test.advice) {
				t.Errorf("got %q and %q, want %q and %q", got, advice, test.reads, test.advice)
			}
		})
	}
}

// Objects without a namespace lack it always.
func TestUnguardedNamespace(t *testing.T) {
	for _, clusterScoped := range []bool{false, true} {
		d := widgets(t, "text: {type: string}", "text: {type: string}", "[{field: spec.text, rule: self.metadata.namespace}]")
		d.ClusterScoped = clusterScoped
		_, warnings := validate(d, nil)
		if got := strings.Contains(strings.Join(warnings, "\n"), "rules[0] reads self.metadata.namespace"); got != clusterScoped {
			t.Errorf("cluster-scoped %t: got warnings %q", clusterScoped, warnings)
		}
	}
}
