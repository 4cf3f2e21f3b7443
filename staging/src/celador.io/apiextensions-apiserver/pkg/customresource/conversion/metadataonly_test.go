// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// Converting metadata evaluates the rules that may write metadata, and no others.
func TestMetadataOnly(t *testing.T) {
	const fields = "size: {type: string}\nseconds: {type: integer}"
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
		{name: "a rule for metadata fails", rules: `[{field: spec.size, rule: "'x'"}, {field: "metadata.annotations['size']", rule: self.spec.size}]`, spec: "seconds: 1",
			err: `spec.conversion.converters[0].rules[1] (field "metadata.annotations['size']")`},
	}
	for _, test := range table {
		t.Run(test.name, func(t *testing.T) {
			if test.rules == "" {
				test.rules = "[]"
			}
			converter := conversion.New(widgets(t, fields, fields, test.rules))
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

// A rule that writes metadata in the middle of a chain reads what the converters before it return.
func TestMetadataOnlyAlongChain(t *testing.T) {
	d := widgets(t, "old: {type: string}", "new: {type: string}", `[{field: spec.new, rule: self.spec.old}]`)
	d.Versions = append(d.Versions, conversion.Version{Name: "v3", Schema: d.Versions[1].Schema})
	d.Converters = append(d.Converters, v1.Converter{FromVersion: "v2", ToVersion: "v3", Rules: conversionRules(t, `[{field: "metadata.annotations['new']", rule: self.spec.new}]`)})
	got, err := conversion.New(d).ConvertMetadata(t.Context(), widget(t, "old: x"), "v3")
	if err != nil {
		t.Fatal(err)
	}
	if got.GetAnnotations()["new"] != "x" || got.GetAPIVersion() != "example.com/v3" {
		t.Errorf("got %v", got)
	}
}
