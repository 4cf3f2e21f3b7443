// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidateReplacedLists(t *testing.T) {
	const fields = `text: {type: string, maxLength: 10}
list: {type: array, maxItems: 10, items: {type: object, properties: {name: {type: string, maxLength: 10}, inner: {type: array, maxItems: 3, items: {type: string, maxLength: 10}}}}}
map: {type: object, maxProperties: 10, additionalProperties: {type: object, properties: {name: {type: string, maxLength: 10}, inner: {type: array, maxItems: 3, items: {type: string, maxLength: 10}}}}}`
	const (
		items = "{scope: 'spec.list[*]', field: name, rule: \"'x'\"}"
		inner = "{scope: 'spec.list[*].inner[*]', rule: \"'x'\"}"
	)
	for _, test := range []struct {
		name, earlier, later string
		// list is the list that the earlier rule replaces. Empty if the rules are valid.
		list string
	}{
		{"list", "{field: spec.list, rule: 'self.spec.list.sortBy(i, i.name)'}", items, "spec.list"},
		{"outer list", "{field: spec.list, rule: 'self.spec.list.filter(i, has(i.name))'}", inner, "spec.list"},
		{"inner list", "{scope: 'spec.list[*]', field: inner, rule: 'self.inner.sort()'}", inner, "spec.list[*].inner"},
		{"items", "{scope: 'spec.list[*]', rule: 'self'}", inner, "spec.list[*].inner"},
		{"items keep their places", "{scope: 'spec.list[*]', rule: 'self'}", items, ""},
		{"fields of items", items, items, ""},
		{"object above", "{field: spec, rule: self.spec}", items, "spec.list"},
		{"decoded object above", "{field: spec, rule: json.decode(self.spec.text)}", items, "spec.list"},
		{"constructed object with the list", "{field: spec, rule: 'Object.spec{list: self.spec.list.sortBy(i, i.name)}'}", items, "spec.list"},
		{"constructed object without the list", "{field: spec, rule: 'Object.spec{text: self.spec.text}'}", items, ""},
		{"constructed root without the list", "{rule: 'Object{spec: Object.spec{text: self.spec.text}}'}", items, ""},
		{"constructed root without the object", "{rule: 'Object{metadata: Object.metadata{labels: {}}}'}", items, ""},
		{"constructed object that may be unset", "{field: spec, rule: 'has(self.spec.text) ? Object.spec{text: self.spec.text} : null'}", items, "spec.list"},
		{"another field", "{field: spec.text, rule: self.spec.text}", items, ""},
		{"later rule", items, "{field: spec.list, rule: 'self.spec.list.sortBy(i, i.name)'}", ""},
		{"map", "{field: spec.map, rule: self.spec.map}", "{scope: 'spec.map[*]', field: name, rule: \"'x'\"}", ""},
		{"list in a map", "{scope: 'spec.map[*]', field: inner, rule: 'self.inner.sort()'}", "{scope: 'spec.map.a.inner[*]', rule: \"'x'\"}", "spec.map.a.inner"},
		{"list at a key", "{field: spec.map.a.inner, rule: '[]'}", "{scope: 'spec.map[*].inner[*]', rule: \"'x'\"}", "spec.map[*].inner"},
		{"list at another key", "{field: spec.map.b.inner, rule: '[]'}", "{scope: 'spec.map.a.inner[*]', rule: \"'x'\"}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			errs, _ := validate(widgets(t, fields, fields, "["+test.earlier+", "+test.later+"]"), nil)
			if test.list == "" {
				if len(errs) > 0 {
					t.Error(errs)
				}
				return
			}
			if len(errs) != 1 || !contains(errs[0], rules+"[1].scope: Invalid value: ") {
				t.Fatal(errs)
			}
			want := ": " + rules + "[0] replaces the list " + test.list + " before, so that the item with the same index need not be the one that this rule reads: set the fields of the items in " +
				rules + "[0], for example with map() and a constructor, and remove this rule"
			if !contains(errs[0], want) {
				t.Error(cmp.Diff(want, errs[0]))
			}
		})
	}
}
