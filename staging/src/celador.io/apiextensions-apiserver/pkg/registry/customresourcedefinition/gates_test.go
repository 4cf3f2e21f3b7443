// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/features"
)

const (
	defaulted   = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-default": [{"rule": "1", "field": "a"}]}}}}}}`
	redefaulted = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-default": [{"rule": "2", "field": "a"}]}}}}}}`
	undefaulted = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}}}}}`

	computed    = `{"type": "object", "x-kubernetes-default": [{"rule": "self.spec.a", "field": "status.a"}], "properties": {"spec": {"type": "object", "properties": {"a": {"type": "integer"}}}, "status": {"type": "object", "properties": {"a": {"type": "integer"}}}}}`
	both        = `{"fromVersion": "v1", "toVersion": "v2"}, {"fromVersion": "v2", "toVersion": "v1"`
	converters  = `{"strategy": "ConversionRules", "converters": [` + both + `}]}`
	otherRules  = `{"strategy": "ConversionRules", "converters": [` + both + `, "rules": [{"field": "spec.size", "rule": "3"}]}]}`
	idle        = `{"strategy": "None", "converters": [` + both + `}]}`
	listDefault = apiextensions.SchemaPath("/properties/spec/properties/list/items")

	invalidDefault      = `spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[list].items.x-kubernetes-default[0].rule: Invalid value: "a"`
	crossingDefault     = "spec.versions[0].schema.openAPIV3Schema.x-kubernetes-default[0].rule: Forbidden: the version has a status subresource"
	tables              = `{"strategy": "ConversionRules", "tables": [{"name": "a", "map": {"b": "c"}}], "converters": [` + both + `, "variables": [{"name": "v", "expression": "1"}]}]}`
	idleTables          = `{"strategy": "None", "tables": [{"name": "a", "map": {"b": "c"}}]}`
	forbiddenTables     = "spec.conversion.tables: Forbidden"
	forbiddenConverters = "spec.conversion.converters: Forbidden"
	unknownStrategy     = `spec.conversion.strategy: Unsupported value: "ConversionRules": supported values: "None", "Webhook"`
)

// TestGates creates and updates definitions with expressions.
func TestGates(t *testing.T) {
	_, ours, _ := servers(t, generic.UndecoratedStorage)
	on := []bool{true}
	off := []bool{false}
	either := []bool{true, false}
	var nothing *apiextensions.ExpressionFields
	defaults := func(rule string) *apiextensions.ExpressionFields {
		return &apiextensions.ExpressionFields{Defaults: map[string]apiextensions.SchemaDefaults{"v1": {listDefault: {{Rule: rule, Field: "a"}}}}}
	}
	conversion := func(strategy bool, rules ...v1.ConversionRule) *apiextensions.ExpressionFields {
		return &apiextensions.ExpressionFields{ConversionRules: strategy, Converters: []v1.Converter{
			{FromVersion: "v1", ToVersion: "v2"}, {FromVersion: "v2", ToVersion: "v1", Rules: rules},
		}}
	}
	shared := conversion(true)
	shared.Tables = []v1.ConversionTable{{Name: "a", Map: map[string]string{"b": "c"}}}
	shared.Converters[1].Variables = []v1.ConversionVariable{{Name: "v", Expression: "1"}}
	computedStatus := &apiextensions.ExpressionFields{Defaults: map[string]apiextensions.SchemaDefaults{"v1": {"": {{Rule: "self.spec.a", Field: "status.a"}}}}}
	other := v1.ConversionRule{Field: "spec.size", Rule: "3"}
	tests := []struct {
		name string
		// old is the stored manifest. Empty on create.
		old, updated string
		gates        []bool
		// emulated is the Kubernetes version that the server emulates, if not its own.
		emulated string
		want     *apiextensions.ExpressionFields
		// errs are prefixes of the errors.
		errs []string
		// changed reports whether the update increments the generation.
		changed bool
	}{
		{name: "create defaults", updated: manifest(none, defaulted), gates: off, want: nothing},
		{name: "create defaults", updated: manifest(none, defaulted), gates: on, want: defaults("1")},
		{name: "create defaults of two versions", updated: manifest(none, object, defaulted), gates: on,
			want: &apiextensions.ExpressionFields{Defaults: map[string]apiextensions.SchemaDefaults{"v2": {listDefault: {{Rule: "1", Field: "a"}}}}}},
		{name: "create invalid defaults of two versions", updated: manifest(none, object, strings.Replace(defaulted, `"1"`, `"a"`, 1)), gates: on,
			want: &apiextensions.ExpressionFields{Defaults: map[string]apiextensions.SchemaDefaults{"v2": {listDefault: {{Rule: "a", Field: "a"}}}}},
			errs: []string{invalidDefault}},
		{name: "create defaults under 1.36", updated: manifest(none, defaulted), gates: off, emulated: "1.36", want: nothing},
		{name: "create converters", updated: manifest(converters, object, object), gates: off, want: nothing, errs: []string{unknownStrategy}},
		{name: "create converters", updated: manifest(converters, object, object), gates: on, want: conversion(true)},
		{name: "create idle converters", updated: manifest(idle, object, object), gates: off, want: nothing},
		{name: "create idle converters", updated: manifest(idle, object, object), gates: on, want: conversion(false), errs: []string{forbiddenConverters}},

		{name: "create tables and variables", updated: manifest(tables, object, object), gates: off, want: nothing, errs: []string{unknownStrategy}},
		{name: "create tables and variables", updated: manifest(tables, object, object), gates: on, want: shared},
		{name: "create idle tables", updated: manifest(idleTables, object, object), gates: off, want: nothing},
		{name: "create idle tables", updated: manifest(idleTables, object, object), gates: on, want: &apiextensions.ExpressionFields{Tables: shared.Tables}, errs: []string{forbiddenTables}},
		{name: "keep tables and variables", old: manifest(tables, object, object), updated: manifest(tables, object, object), gates: either, want: shared},
		{name: "add tables and variables", old: manifest(converters, object, object), updated: manifest(tables, object, object), gates: either, want: shared, changed: true},
		{name: "remove tables and variables", old: manifest(tables, object, object), updated: manifest(converters, object, object), gates: either, want: conversion(true), changed: true},

		{name: "add defaults", old: manifest(none, undefaulted), updated: manifest(none, defaulted), gates: off, want: nothing},
		{name: "add defaults", old: manifest(none, undefaulted), updated: manifest(none, defaulted), gates: on, want: defaults("1"), changed: true},
		{name: "keep defaults", old: manifest(none, defaulted), updated: manifest(none, defaulted), gates: either, want: defaults("1")},
		{name: "change defaults", old: manifest(none, defaulted), updated: manifest(none, redefaulted), gates: either, want: defaults("2"), changed: true},
		{name: "keep defaults of the status that read the spec", old: withStatus(manifest(none, computed)), updated: withStatus(manifest(none, computed)), gates: either, want: computedStatus},
		{name: "add the status to such defaults", old: manifest(none, computed), updated: withStatus(manifest(none, computed)), gates: either, want: computedStatus, errs: []string{crossingDefault}, changed: true},
		{name: "remove defaults", old: manifest(none, defaulted), updated: manifest(none, undefaulted), gates: either, want: nothing, changed: true},
		{name: "add converters", old: manifest(none, object, object), updated: manifest(converters, object, object), gates: off, want: nothing, errs: []string{unknownStrategy}, changed: true},
		{name: "add converters", old: manifest(none, object, object), updated: manifest(converters, object, object), gates: on, want: conversion(true), changed: true},
		{name: "add converters to defaults", old: manifest(none, defaulted, object), updated: manifest(converters, defaulted, object), gates: off, want: defaults("1"), errs: []string{unknownStrategy}, changed: true},
		{name: "keep converters", old: manifest(converters, object, object), updated: manifest(converters, object, object), gates: either, want: conversion(true)},
		{name: "change converters", old: manifest(converters, object, object), updated: manifest(otherRules, object, object), gates: either, want: conversion(true, other), changed: true},
		{name: "remove the strategy but not the converters", old: manifest(converters, object, object), updated: manifest(idle, object, object), gates: either, want: conversion(false), errs: []string{forbiddenConverters}, changed: true},
		{name: "remove converters", old: manifest(converters, object, object), updated: manifest(none, object, object), gates: either, want: nothing, changed: true},
	}
	for _, test := range tests {
		for _, enabled := range test.gates {
			name := test.name + " with the gates off"
			if enabled {
				name = test.name + " with the gates on"
			}
			t.Run(name, func(t *testing.T) {
				if test.emulated != "" {
					featuregatetesting.SetFeatureGateEmulationVersionDuringTest(t, utilfeature.DefaultFeatureGate, version.MustParse(test.emulated))
				} else {
					featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceDefaultExpressions, enabled)
					featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, enabled)
				}
				updated := decodeOurs(t, test.updated)
				errs := func() []string {
					if test.old == "" {
						ours.store.CreateStrategy.PrepareForCreate(testContext(), updated)
						return messages(ours.store.CreateStrategy.Validate(testContext(), updated))
					}
					old := decodeOurs(t, test.old)
					old.ResourceVersion, updated.ResourceVersion, old.Generation, updated.Generation = "1", "1", 7, 7
					ours.store.UpdateStrategy.PrepareForUpdate(testContext(), updated, old)
					if got := updated.Generation; got != 7 && !test.changed || got != 8 && test.changed {
						t.Errorf("got generation %d after 7, want a change: %t", got, test.changed)
					}
					return messages(ours.store.UpdateStrategy.ValidateUpdate(testContext(), updated, old))
				}()
				if diff := cmp.Diff(test.want, updated.Expressions); diff != "" {
					t.Errorf("expressions differ (-want +got):\n%s", diff)
				}
				if len(errs) != len(test.errs) {
					t.Fatalf("got errors %q, want %q", errs, test.errs)
				}
				for i := range errs {
					if !strings.HasPrefix(errs[i], test.errs[i]) {
						t.Errorf("got error %q, want %q", errs[i], test.errs[i])
					}
				}
			})
		}
	}
}

// withStatus adds a status subresource to the storage version of a manifest.
func withStatus(manifest string) string {
	return strings.Replace(manifest, `"storage": true, `, `"storage": true, "subresources": {"status": {}}, `, 1)
}

// messages returns the texts of the errors.
func messages(errs field.ErrorList) []string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}

// TestStatusUpdatesKeepExpressions updates the status with a CustomResourceDefinition that lacks
// the stored expressions, as Kubernetes' controllers do.
func TestStatusUpdatesKeepExpressions(t *testing.T) {
	_, ours, _ := servers(t, generic.UndecoratedStorage)
	stored := ours.store.NewFunc().(*apiextensions.CustomResourceDefinition)
	original := decodeOurs(t, expressive)
	if err := ours.store.Storage.Create(testContext(), ours.key(original.Name), original.DeepCopy(), stored, 0, false); err != nil {
		t.Fatal(err)
	}
	update := &apiextensions.CustomResourceDefinition{CustomResourceDefinition: *stored.CustomResourceDefinition.DeepCopy()}
	update.Status.AcceptedNames.Kind = "Demo"
	obj, _, err := ours.status.Update(testContext(), update.Name, rest.DefaultUpdatedObjectInfo(update), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	updated := obj.(*apiextensions.CustomResourceDefinition)
	if diff := cmp.Diff(original.Expressions, updated.Expressions); diff != "" {
		t.Errorf("expressions differ (-stored +updated):\n%s", diff)
	}
	if updated.Status.AcceptedNames.Kind != "Demo" || updated.Generation != stored.Generation {
		t.Errorf("got status %v and generation %d, want the new status and generation %d", updated.Status, updated.Generation, stored.Generation)
	}
}
