// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/registry/generic"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/apiextensions-apiserver/pkg/features"
)

// TestConversionRules creates and updates CustomResourceDefinitions whose converters are invalid or
// lose data.
func TestConversionRules(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, true)
	_, ours, _ := servers(t, generic.UndecoratedStorage)
	const (
		length     = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}, "length": {"type": "integer"}}}}}`
		oneWay     = `{"strategy": "ConversionRules", "converters": [{"fromVersion": "v1", "toVersion": "v2"}]}`
		wrong      = `{"strategy": "ConversionRules", "converters": [` + both + `, "rules": [{"field": "spec.size", "rule": "size"}]}]}`
		wrongMoved = `{"strategy": "ConversionRules", "converters": [{"fromVersion": "v2", "toVersion": "v1", "rules": [{"field": "spec.size", "rule": "size"}]}, {"fromVersion": "v1", "toVersion": "v2"}]}`
		noReverse  = "spec.conversion.converters: "
		wrongRule  = "spec.conversion.converters[1].rules[0].rule: Invalid value"
	)
	preserving := func(conversion string) string {
		return strings.Replace(manifest(conversion, object, object), `"spec": {`, `"spec": {"preserveUnknownFields": true, `, 1)
	}
	for name, test := range map[string]struct {
		// old is the stored manifest. Empty on create.
		old, updated string
		// errs are prefixes of the errors, and warnings parts of the warnings.
		errs, warnings []string
	}{
		"valid":                                  {updated: manifest(converters, object, object)},
		"a pair without a converter":             {updated: manifest(oneWay, object, object), errs: []string{noReverse}},
		"a rule that does not compile":           {updated: manifest(wrong, object, object), errs: []string{wrongRule}},
		"data is lost":                           {updated: manifest(converters, length, object), warnings: []string{"spec.length"}},
		"invalid and stored":                     {old: manifest(wrong, object, object), updated: manifest(wrong, object, object)},
		"data is lost and stored":                {old: manifest(converters, length, object), updated: manifest(converters, length, object)},
		"an invalid rule is kept in a change":    {old: manifest(wrong, object, object), updated: manifest(wrongMoved, object, object)},
		"an invalid rule gets another schema":    {old: manifest(wrong, object, object), updated: manifest(wrong, object, length), errs: []string{wrongRule}},
		"a version is added without a converter": {old: manifest(converters, object, object), updated: manifest(converters, object, object, object), errs: []string{noReverse, noReverse, noReverse, noReverse}},
		"unknown fields are preserved":           {old: preserving(none), updated: preserving(converters), errs: []string{`spec.conversion.strategy: Invalid value: "ConversionRules": must be None`}},
		"a client drops the converters":          {old: manifest(converters, object, object), updated: manifest(`{"strategy": "ConversionRules"}`, object, object), errs: []string{noReverse}},
		"converters are added to None":           {old: manifest(none, object, object), updated: manifest(oneWay, object, object), errs: []string{noReverse}},
	} {
		t.Run(name, func(t *testing.T) {
			updated := decodeOurs(t, test.updated)
			var errs []string
			var warned warnings
			ctx := warning.WithWarningRecorder(testContext(), &warned)
			if test.old == "" {
				ours.store.CreateStrategy.PrepareForCreate(ctx, updated)
				errs = messages(ours.store.CreateStrategy.Validate(ctx, updated))
			} else {
				old := decodeOurs(t, test.old)
				old.ResourceVersion, updated.ResourceVersion = "1", "1"
				ours.store.UpdateStrategy.PrepareForUpdate(ctx, updated, old)
				errs = messages(ours.store.UpdateStrategy.ValidateUpdate(ctx, updated, old))
			}
			expectTexts(t, "errors", errs, test.errs, strings.HasPrefix)
			expectTexts(t, "warnings", warned.texts, test.warnings, strings.Contains)
		})
	}
}

func expectTexts(t *testing.T, what string, got, want []string, matches func(got, want string) bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %s %q, want %q", what, got, want)
		return
	}
	for i := range got {
		if !matches(got[i], want[i]) {
			t.Errorf("got %s %q, want %q", what, got[i], want[i])
		}
	}
}
