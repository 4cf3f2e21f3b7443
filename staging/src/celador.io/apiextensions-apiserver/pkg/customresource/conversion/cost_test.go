// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// Whatever is accepted for the limits of the schema converts objects that have as many items, and
// what is refused does not convert some object that a request can have. A warning stands for rules
// that convert objects of ordinary sizes only.
func TestCostAgreement(t *testing.T) {
	const fields = "text: {type: string}\nlist: {type: array, %s items: {type: object, properties: {name: {type: string%s}, tags: {type: array, items: {type: string}}}}}\n"
	all := func(expression string) string {
		return "{field: spec.text, rule: " + quote("string("+expression+")") + "}"
	}
	for _, test := range []struct {
		name, limits, rule string
		refused, warned    bool
		// converts is a length of the list for which objects are converted, exceeds one for which
		// they are not. 0 if there is none.
		converts, exceeds int
	}{
		{"linear without limits", "", "{field: spec.list, rule: 'self.spec.list.map(i, Object.spec.list{name: i.?name.orValue(\"\")})'}", false, false, 30_000, 0},
		{"lists in lists without limits", "", "{field: spec.text, rule: 'string(self.spec.list.map(i, i.?tags.orValue([]).map(t, t + \"-\")).size())'}", false, false, 30_000, 0},
		{"an item for each item, limited", "maxItems: 400,", "{field: spec.text, rule: 'string(self.spec.list.map(a, self.spec.list.filter(b, b.name == a.name)).size())'}", false, false, 400, 0},
		{"an item for each item without limits", "", "{field: spec.text, rule: 'string(self.spec.list.map(a, self.spec.list.filter(b, b.name == a.name)).size())'}", false, true, 400, 2000},
		{"three loops, limited", "maxItems: 50,", "{field: spec.text, rule: 'string(self.spec.list.exists(a, self.spec.list.exists(b, self.spec.list.exists(c, a.name + b.name == c.name))))'}", false, false, 50, 0},
		{"three loops without limits", "", "{field: spec.text, rule: 'string(self.spec.list.exists(a, self.spec.list.exists(b, self.spec.list.exists(c, a.name + b.name == c.name))))'}", true, false, 0, 400},
		{"three loops over all, without limits", "", all("self.spec.list.all(a, self.spec.list.all(b, self.spec.list.all(c, a.name + b.name != c.name)))"), true, false, 0, 400},
		{"three loops over indices, without limits", "", all("lists.range(size(self.spec.list)).all(a, lists.range(size(self.spec.list)).all(b, lists.range(size(self.spec.list)).all(c, self.spec.list[a].name + self.spec.list[b].name != self.spec.list[c].name)))"), true, false, 0, 0},
		{"three loops over lists in lists, without limits", "", all("self.spec.list.all(a, a.tags.all(s, self.spec.list.all(b, b.tags.all(t, self.spec.list.all(c, c.tags.all(u, s + t != u))))))"), true, false, 0, 400},
		{"three loops over flat lists, without limits", "", all("[self.spec.list.map(a, a.tags).flatten()].all(l, l.all(s, l.all(t, l.all(u, s + t != u))))"), true, false, 0, 0},
		{"two loops over all, without limits", "", all("self.spec.list.all(a, self.spec.list.all(b, a.name + 'x' != b.name))"), false, true, 400, 2000},
		{"indices without limits", "", all("lists.range(size(self.spec.list)).all(i, self.spec.list[i].name != '' && lists.range(size(self.spec.list[i].tags)).all(j, self.spec.list[i].tags[j] != ''))"), false, false, 3_000, 0},
		{"a scope", "", "{scope: 'spec.list[*]', field: name, rule: 'self.name.upperAscii()'}", false, false, 30_000, 0},
		{"a loop for each value of a scope", "", "{scope: 'spec.list[*]', field: name, rule: 'self.?tags.orValue([]).map(t, t.upperAscii()).join()'}", false, false, 30_000, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			limit := ""
			if test.limits != "" {
				limit = ", maxLength: 20"
			}
			f := fmt.Sprintf(fields, test.limits, limit)
			d := widgets(t, f, f, "["+test.rule+"]")
			errs, warnings := conversion.Validate(field.NewPath("spec", "conversion"), d, nil)
			isRefused := strings.Contains(fmt.Sprint(errs), "exceeds budget")
			if isRefused != test.refused || len(errs) > 0 && !isRefused {
				t.Errorf("got errors %v", errs)
			}
			if isWarned := strings.Contains(fmt.Sprint(warnings), "rules[0].rule: objects with long lists are refused"); isWarned != test.warned {
				t.Errorf("got warnings %v", warnings)
			}
			object := func(n int) string {
				var b strings.Builder
				b.WriteString("list: [")
				for i := range n {
					fmt.Fprintf(&b, "{name: item-%08d, tags: [a, b]}, ", i)
				}
				return b.String() + "]"
			}
			if test.converts > 0 {
				if _, err := convert(t, d, widget(t, object(test.converts)), "v2"); err != nil {
					t.Errorf("%d items: %v", test.converts, err)
				}
			}
			if test.exceeds > 0 {
				_, err := convert(t, d, widget(t, object(test.exceeds)), "v2")
				if failure := new(conversion.Error); !errors.As(err, &failure) || failure.Reason != conversion.ReasonCost {
					t.Errorf("%d items: got %v", test.exceeds, err)
				}
			}
		})
	}
}
