// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// TestDefaults sets the defaults of every object of crd-defaults.
func TestDefaults(t *testing.T) {
	d := load(t, "crd-defaults")
	const version, defaulted = "v1", "-defaulted"
	if errs, _ := defaulting.Validate(d.schemas.Structural(version), d.expressions.Defaults[version], nil, false, field.NewPath("openAPIV3Schema")); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	objects := d.objects(t)
	for name, object := range objects {
		if strings.HasSuffix(name, defaulted) {
			continue
		}
		want := objects[name+defaulted]
		if want == nil {
			t.Errorf("no file %s%s.yaml", name, defaulted)
			continue
		}
		d.schemas.Defaulter(runtime.NewScheme()).Default(object)
		if diff := cmp.Diff(want.Object, object.Object); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if errs := d.schemas.DefaultRules(version).Validate(t.Context(), object.Object, nil); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}
}
