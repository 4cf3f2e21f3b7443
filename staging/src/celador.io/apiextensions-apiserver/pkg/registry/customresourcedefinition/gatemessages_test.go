// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/registry/generic"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/apiextensions-apiserver/pkg/features"
)

// warnings records the warnings of a request.
type warnings struct{ texts []string }

// AddWarning implements warning.Recorder.
func (w *warnings) AddWarning(_, text string) { w.texts = append(w.texts, text) }

// TestGateMessages creates and updates definitions with fields whose gates are off, and with
// strategies that do not exist.
func TestGateMessages(t *testing.T) {
	_, ours, _ := servers(t, generic.UndecoratedStorage)
	const (
		noDefaults   = "x-kubernetes-default in the schemas: dropped, because the feature gate CustomResourceDefaultExpressions is off"
		noConverters = "spec.conversion.converters: dropped, because the feature gate CustomResourceConversionRules is off"
		noTables     = "spec.conversion.tables: dropped, because the feature gate CustomResourceConversionRules is off"
		typo         = `{"strategy": "ConversionRule"}`
		unknownTypo  = `spec.conversion.strategy: Unsupported value: "ConversionRule": supported values: `
	)
	for _, test := range []struct {
		name, manifest string
		enabled        bool
		warnings, errs []string
	}{
		{name: "defaults", manifest: manifest(none, defaulted), warnings: []string{noDefaults}},
		{name: "defaults", manifest: manifest(none, defaulted), enabled: true},
		{name: "converters", manifest: manifest(converters, object, object), warnings: []string{noConverters},
			errs: []string{unknownStrategy + `, and "ConversionRules" if the feature gate CustomResourceConversionRules is on`}},
		{name: "converters", manifest: manifest(converters, object, object), enabled: true},
		{name: "idle converters and defaults", manifest: manifest(idle, defaulted, object), warnings: []string{noDefaults, noConverters}},
		{name: "idle tables", manifest: manifest(idleTables, object, object), warnings: []string{noTables}},
		{name: "converters and tables", manifest: manifest(strings.Replace(tables, "ConversionRules", "None", 1), object, object), warnings: []string{noConverters, noTables}},
		{name: "nothing", manifest: manifest(none, object)},
		{name: "another strategy", manifest: manifest(typo, object, object), errs: []string{unknownTypo + `"None", "Webhook"`}},
		{name: "another strategy", manifest: manifest(typo, object, object), enabled: true, errs: []string{unknownTypo + `"ConversionRules", "None", "Webhook"`}},
	} {
		for _, update := range []bool{false, true} {
			name := test.name
			if test.enabled {
				name += " with the gates on"
			}
			if update {
				name += " on update"
			}
			t.Run(name, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceDefaultExpressions, test.enabled)
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, test.enabled)
				var recorded warnings
				ctx := warning.WithWarningRecorder(context.Background(), &recorded)
				crd := decodeOurs(t, test.manifest)
				var errs []string
				if update {
					old := decodeOurs(t, manifest(none, object, object))
					old.ResourceVersion, crd.ResourceVersion = "1", "1"
					ours.store.UpdateStrategy.PrepareForUpdate(ctx, crd, old)
					errs = messages(ours.store.UpdateStrategy.ValidateUpdate(ctx, crd, old))
				} else {
					ours.store.CreateStrategy.PrepareForCreate(ctx, crd)
					errs = messages(ours.store.CreateStrategy.Validate(ctx, crd))
				}
				if diff := cmp.Diff(test.warnings, recorded.texts); diff != "" {
					t.Errorf("warnings (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.errs, errs); diff != "" {
					t.Errorf("errors (-want +got):\n%s", diff)
				}
			})
		}
	}
}
