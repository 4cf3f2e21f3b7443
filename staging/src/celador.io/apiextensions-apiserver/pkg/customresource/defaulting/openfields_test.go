// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// openFields has rules that read what the schema leaves open.
const openFields = `
type: object
properties:
  spec:
    type: object
    x-kubernetes-default:
    - {field: tag, rule: "self.?values.image.tag"}
    - {field: count, rule: "has(self.values) && has(self.values.count) ? self.values.count : null"}
    - {field: name, rule: "self.?template.metadata.name"}
    - {field: copy, rule: "self.?values"}
    properties:
      values: {x-kubernetes-preserve-unknown-fields: true}
      template: {type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}
      tag: {type: string}
      count: {type: integer}
      name: {type: string}
      copy: {x-kubernetes-preserve-unknown-fields: true}
`

func TestOpenFields(t *testing.T) {
	structural, rules := compile(t, openFields)
	if _, defaults := parse(t, openFields); true {
		if _, warnings := defaulting.Validate(structural, defaults, nil, false, root); len(warnings) > 0 {
			t.Errorf("got warnings %q", warnings)
		}
	}
	for _, test := range []struct{ name, object, want, err string }{
		{name: "values", object: "{spec: {values: {image: {tag: x}, count: 2}}}", want: "{spec: {values: {image: {tag: x}, count: 2}, tag: x, count: 2, copy: {image: {tag: x}, count: 2}}}"},
		{name: "embedded resource", object: "{spec: {template: {apiVersion: v1, kind: K, metadata: {name: nm}}}}", want: "{spec: {template: {apiVersion: v1, kind: K, metadata: {name: nm}}, name: nm}}"},
		{name: "nothing", object: "{spec: {}}", want: "{spec: {}}"},
		{name: "another type", object: "{spec: {values: {count: x}}}", want: "{spec: {values: {count: x}, copy: {count: x}}}", err: "spec.count: Invalid value: null: no default"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := object(t, test.object)
			rules.Default(got)
			if diff := cmp.Diff(object(t, test.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			errs := rules.Validate(t.Context(), got, nil)
			if test.err == "" && len(errs) > 0 || test.err != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), test.err)) {
				t.Errorf("got errors %v, want %q", errs, test.err)
			}
		})
	}
}
