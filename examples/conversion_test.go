// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// The file of an object is named after the object and its version. The object is converted to the
// version of the other file with its name, or of the file with the suffix back, if there is one.
const back = "-back"

// lost holds the fields that a conversion loses, by the directories of the examples.
var lost = map[string]string{"crd-machine-health-check": "spec.remediationTemplate.namespace"}

// TestConversion converts every object of the examples to the other versions.
func TestConversion(t *testing.T) {
	for _, directory := range converted {
		t.Run(directory, func(t *testing.T) {
			d := load(t, directory)
			errs, warnings := conversion.Validate(field.NewPath("spec", "conversion"), d.conversion(), nil)
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			if want := lost[directory]; (len(warnings) > 0) != (want != "") || !strings.Contains(strings.Join(warnings, "\n"), want) {
				t.Errorf("got warnings %q, want one of %q", warnings, want)
			}
			c := d.converter()
			objects := d.objects(t)
			conversions := 0
			for name, object := range objects {
				version := object.GroupVersionKind().Version
				base, ok := strings.CutSuffix(name, "-"+version)
				if !ok {
					continue // the result of a conversion back
				}
				for _, other := range d.others(version) {
					target := base + "-" + other
					want := objects[target+back]
					if want == nil {
						want = objects[target]
					}
					if want == nil {
						t.Errorf("%s has no file %s.yaml", directory, target)
						continue
					}
					conversions++
					if diff := cmp.Diff(want.Object, c.convert(t, object, other).Object); diff != "" {
						t.Errorf("%s in %s (-want +got):\n%s", name, other, diff)
					}
				}
			}
			if conversions < 2 {
				t.Errorf("only %d conversions", conversions)
			}
		})
	}
}

// A converter converts as the server does.
type converter struct {
	*conversion.Converter
	schemas *schemas.Schemas
}

func (d *definition) converter() converter {
	return converter{conversion.New(d.conversion()), d.schemas}
}

// convert returns the object in a version, without the fields that the version does not specify. It
// does not change in.
func (c converter) convert(t testing.TB, in *unstructured.Unstructured, version string) *unstructured.Unstructured {
	t.Helper()
	before := in.DeepCopy()
	out, err := c.Convert(t.Context(), in, version)
	if err != nil {
		t.Fatalf("%v\n%s", err, dump(in))
	}
	if diff := cmp.Diff(before.Object, in.Object); diff != "" {
		t.Fatalf("the conversion changed its source:\n%s", diff)
	}
	out = out.DeepCopy()
	if _, err := c.schemas.Coerce(out, schemas.Coercion{}); err != nil {
		t.Fatalf("%v\n%s", err, dump(out))
	}
	return out
}
