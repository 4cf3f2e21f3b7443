// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import "testing"

func TestValidateConstructedAboveRetyped(t *testing.T) {
	const common = "text: {type: string, maxLength: 10}\n"
	const from = common + "o: {type: object, properties: {size: {type: string, maxLength: 10}, text: {type: string, maxLength: 10}}}\n"
	const to = common + "o: {type: object, properties: {size: {type: integer}, text: {type: string}}}\n"
	const size = "Object.spec.o{size: int(self.spec.o.size)}"
	const other = "Object.spec.o{text: self.spec.text}"
	for _, test := range []struct {
		name, field, rule string
		valid             bool
	}{
		{"names the field", "spec.o", size, true},
		{"names another field", "spec.o", other, false},
		{"names the field in a nested object", "spec", "Object.spec{o: " + size + "}", true},
		{"names another field in a nested object", "spec", "Object.spec{o: " + other + "}", false},
		{"does not name the nested object", "spec", "Object.spec{text: self.spec.text}", false},
		{"decodes the nested object", "spec", "Object.spec{o: json.decode(self.spec.text)}", true},
		{"both branches name the field", "spec.o", "has(self.spec.text) ? " + size + " : " + size, true},
		{"one branch names the field", "spec.o", "has(self.spec.text) ? " + size + " : " + other, false},
		{"the other branch is null", "spec.o", "has(self.spec.text) ? " + size + " : null", true},
		{"in an optional", "spec.o", "self.spec.?text.optMap(x, " + size + ")", true},
		{"another field in an optional", "spec.o", "self.spec.?text.optMap(x, " + other + ")", false},
		{"in nested optionals", "spec.o", "self.spec.?text.optFlatMap(x, optional.of(" + size + "))", true},
		{"the object is a variable", "spec.o", "optional.of(" + other + ").optMap(x, x)", false},
		{"of dynamic type", "spec.o", "dyn(" + other + ")", false},
		{"an item of a list", "spec.o", "[" + other + "][0]", false},
		{"decoded", "spec.o", "json.decode(self.spec.text)", true},
		{"decoded or constructed", "spec.o", "has(self.spec.text) ? json.decode(self.spec.text) : dyn(" + size + ")", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			errs, _ := validate(widgets(t, from, to, "[{field: "+test.field+", rule: '"+test.rule+"'}]"), nil)
			refused := false
			for _, err := range errs {
				if !contains(err, rules) {
					continue // The rules from v2 to v1 are not tested.
				}
				refused = true
				if !contains(err, "spec.o.size is a string in version v1 and an integer in version v2, and no rule sets it") {
					t.Error(err)
				}
			}
			if refused == test.valid {
				t.Errorf("valid: %t, want %t", !refused, test.valid)
			}
		})
	}
}
