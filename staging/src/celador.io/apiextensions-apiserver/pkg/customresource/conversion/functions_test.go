// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// The functions of rules work on the values of objects, and their results are values of fields.
func TestFunctionsOfRules(t *testing.T) {
	const fields = `
labels: {type: object, maxProperties: 10, additionalProperties: {type: string, maxLength: 20}}
more: {type: object, maxProperties: 10, additionalProperties: {type: string, maxLength: 20}}
pools: {type: object, maxProperties: 10, additionalProperties: {type: object, properties: {size: {type: integer}}}}
text: {type: string, maxLength: 40}
time: {type: string, format: duration}
seconds: {type: integer}
data: {type: string, format: byte, maxLength: 40}
`
	const in = "labels: {a: '1', b: '2'}\nmore: {b: '3'}\npools: {p: {size: 1}}\ntext: v1.2-x\ntime: 5m\nseconds: 90\ndata: YWI="
	for _, test := range []struct{ field, rule, want string }{
		{"labels", "self.spec.labels.merge(self.spec.more)", "{a: '1', b: '3'}"},
		{"labels", "self.spec.?labels.orValue({}).merge(self.spec.?more.orValue({})).remove('a')", "{b: '3'}"},
		{"labels", "self.spec.labels.set('c', self.spec.text)", "{a: '1', b: '2', c: v1.2-x}"},
		{"labels", "self.spec.labels.removeAll(['a', 'b'])", "{}"},
		{"pools", "self.spec.pools.set('q', Object.spec.pools{size: 2})", "{p: {size: 1}, q: {size: 2}}"},
		{"pools", "self.spec.pools.merge({'p': Object.spec.pools{size: 3}})", "{p: {size: 3}}"},
		{"text", "self.spec.time.toText()", "5m0s"},
		{"text", "duration(string(self.spec.seconds) + 's').toText()", "1m30s"},
		{"time", "duration(string(self.spec.seconds) + 's')", "1m30s"},
		{"seconds", "self.spec.time.getSeconds()", "300"},
		{"seconds", "quantity('1500m').asMilliValue()", "1500"},
		{"text", "quantity(string(self.spec.seconds) + 'm').toText()", "90m"},
		{"text", "regex.replace(self.spec.text, '^v([0-9]+)[.].*$', r'\\\\1')", "'1'"},
		{"text", "regex.extract(self.spec.text, '-(.+)$')", "x"},
		{"text", "base64.encode(self.spec.data)", "YWI="},
		{"data", "base64.decode('YWI=')", "YWI="},
		{"seconds", "math.greatest(self.spec.seconds, 100)", "100"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			d := widgets(t, fields, fields, "[{field: spec."+test.field+", rule: \""+test.rule+"\"}]")
			if errs, _ := conversion.Validate(nil, d, nil); len(errs) > 0 {
				t.Fatal(errs)
			}
			out, err := convert(t, d, widget(t, in), "v2")
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			got := out.Object["spec"].(map[string]any)[test.field]
			text, err := yaml.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var decoded any
			if err := yaml.Unmarshal(text, &decoded); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, decoded); diff != "" {
				t.Error(diff)
			}
		})
	}
}
