// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"strings"
	"testing"
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
