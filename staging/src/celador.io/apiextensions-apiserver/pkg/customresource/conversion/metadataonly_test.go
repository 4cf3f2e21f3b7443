// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// Converting metadata evaluates the rules that may write metadata, and no others.
func TestMetadataOnly(t *testing.T) {
	const fields = "size: {type: string}\nseconds: {type: integer}\nopen: {x-kubernetes-preserve-unknown-fields: true}"
	table := []struct {
		name, rules, spec string
		labels            bool
		want, err         string
	}{
		{name: "no rule", spec: "size: big", want: "metadata: {name: b, namespace: a, uid: u}"},
		{name: "a rule for another field fails", rules: `[{field: spec.seconds, rule: "duration(self.spec.size).getSeconds()"}]`, spec: "size: big", want: "metadata: {name: b, namespace: a, uid: u}"},
		{name: "a label", rules: `[{field: spec.seconds, rule: "duration(self.spec.size).getSeconds()"}, {field: "metadata.labels['size']", rule: self.spec.size}]`, spec: "size: big", labels: true,
			want: "metadata: {name: b, namespace: a, uid: u, labels: {size: big}}"},
		{name: "an annotation", rules: `[{field: "metadata.annotations['size']", rule: self.spec.size}]`, spec: "size: big",
			want: "metadata: {name: b, namespace: a, uid: u, annotations: {size: big}}"},
		{name: "a copied value has another type", rules: `[{field: "metadata.annotations['size']", rule: self.spec.size}]`, spec: "size: big\nopen: x",
			want: "metadata: {name: b, namespace: a, uid: u, annotations: {size: big}}"},
		{name: "a rule for metadata fails", rules: `[{field: spec.size, rule: "'x'"}, {field: "metadata.annotations['size']", rule: self.spec.size}]`, spec: "seconds: 1",
			err: `spec.conversion.converters[0].rules[1] (field "metadata.annotations['size']")`},
	}
	for _, test := range table {
		t.Run(test.name, func(t *testing.T) {
			if test.rules == "" {
				test.rules = "[]"
			}
			converter := conversion.New(widgets(t, fields, strings.Replace(fields, "{x-kubernetes-preserve-unknown-fields: true}", "{type: integer}", 1), test.rules))
			if got := converter.ChangesLabels("v1", "v2"); got != test.labels {
				t.Errorf("changes labels: got %v", got)
			}
			in := widget(t, test.spec)
			before := in.DeepCopy()
			got, err := converter.ConvertMetadata(t.Context(), in, "v2")
			if !cmp.Equal(in, before) {
				t.Error("the object has changed")
			}
			if test.err != "" {
				if err == nil || !contains(err.Error(), test.err) {
					t.Errorf("got error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(object(t, "apiVersion: example.com/v2\nkind: Widget\n"+test.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A rule that writes metadata in a chain reads what the converters before it return. No rule of
// these may fail. Other rules of its own converter, and of those after it, may.
func TestMetadataOnlyAlongChain(t *testing.T) {
	fail := func(field string) string {
		return "{field: " + field + ", rule: \"self.metadata.annotations['none']\"}"
	}
	table := []struct{ name, first, second, third, want, err string }{
		{name: "reads a converted field", first: "{field: spec.new, rule: self.spec.old}", second: "{field: \"metadata.annotations['new']\", rule: self.spec.new}", want: "x"},
		{name: "a rule before fails", first: fail("spec.new"), second: "{field: \"metadata.annotations['new']\", rule: \"'y'\"}", err: "converters[0].rules[0]"},
		{name: "a rule beside fails", second: "{field: \"metadata.annotations['new']\", rule: \"'y'\"}, " + fail("spec.new"), want: "y"},
		{name: "a rule after fails", second: "{field: \"metadata.annotations['new']\", rule: \"'y'\"}", third: fail("spec.new"), want: "y"},
		{name: "the first and the last write", first: "{field: \"metadata.annotations['old']\", rule: self.spec.old}", second: fail("spec.new"),
			third: "{field: \"metadata.annotations['new']\", rule: \"self.metadata.annotations['old']\"}", err: "converters[2].rules[0]"},
	}
	for _, test := range table {
		t.Run(test.name, func(t *testing.T) {
			d := widgets(t, "old: {type: string}", "new: {type: string}", "["+test.first+"]")
			for i, rules := range []string{test.second, test.third} {
				name := []string{"v3", "v4"}[i]
				d.Versions = append(d.Versions, conversion.Version{Name: name, Schema: d.Versions[1].Schema})
				d.Converters = append(d.Converters, v1.Converter{FromVersion: []string{"v2", "v3"}[i], ToVersion: name, Rules: conversionRules(t, "["+rules+"]")})
			}
			got, err := conversion.New(d).ConvertMetadata(t.Context(), widget(t, "old: x"), "v4")
			switch {
			case test.err != "":
				if err == nil || !contains(err.Error(), test.err) {
					t.Errorf("got error %v, want one of %s", err, test.err)
				}
			case err != nil:
				t.Error(err)
			case got.GetAnnotations()["new"] != test.want || got.GetAPIVersion() != "example.com/v4":
				t.Errorf("got %v, want the annotation %q in v4", got, test.want)
			}
		})
	}
}
