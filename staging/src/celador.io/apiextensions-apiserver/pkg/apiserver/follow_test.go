// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// TestMetricsOfRemoved covers that the series of deleted CustomResourceDefinitions are deleted, and
// of no others.
func TestMetricsOfRemoved(t *testing.T) {
	f := newFixture(t)
	schema := &structuralschema.Structural{
		Generic:    structuralschema.Generic{Type: "object"},
		Properties: map[string]structuralschema.Structural{"a": {Generic: structuralschema.Generic{Type: "string"}}},
	}
	fail := func(name string) *apiextensionsv1.CustomResourceDefinition {
		crd := widgets()
		crd.Name = name
		defaulting.New(name, schema, apiextensions.SchemaDefaults{"": []v1.DefaultRule{{Field: "a", Rule: "self.b"}}}).Default(map[string]any{})
		return crd
	}
	legacyregistry.Reset()
	deleted, lost, replaced := fail("deleted.example.com"), fail("lost.example.com"), fail("replaced.example.com")
	updated := fail("updated.example.com")
	replacement := replaced.DeepCopy()
	replacement.UID = "replacement"
	f.eventHandler().OnDelete(informers.DeletedCustomResourceDefinition{OptionalObj: deleted})
	f.eventHandler().OnDelete(informers.DeletedCustomResourceDefinition{OptionalObj: lost, FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: lost.Name, Obj: lost}})
	f.eventHandler().OnUpdate(replaced, f.set(replacement))
	f.eventHandler().OnUpdate(updated, f.set(updated.DeepCopy()))
	const name = "celador_crd_default_errors_total"
	if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(`
# HELP celador_crd_default_errors_total [ALPHA] Number of evaluations of x-kubernetes-default that left their field unset because of an error, in requests and reads, by CustomResourceDefinition and reason (invalid, evaluation, result, cost).
# TYPE celador_crd_default_errors_total counter
celador_crd_default_errors_total{crd="updated.example.com",reason="invalid"} 1
`), name); err != nil {
		t.Error(err)
	}
}
