// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdtest_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
)

// TestHTTPRoute checks that Kubernetes accepts the definition with its 72 rules, and the object.
func TestHTTPRoute(t *testing.T) {
	crd := &apiextensions.CustomResourceDefinition{}
	v1crd := crdtest.HTTPRoute("v1")
	apiextensionsv1.SetDefaults_CustomResourceDefinition(v1crd)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(v1crd, crd, nil); err != nil {
		t.Fatal(err)
	}
	crd.Status.StoredVersions = []string{"v1"}
	if errs := apivalidation.ValidateCustomResourceDefinition(t.Context(), crd); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	schema := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v1crd.Spec.Versions[0].Schema.OpenAPIV3Schema, schema, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		t.Fatal(err)
	}
	if rules, nodes := count(structural); rules != 72 || nodes != 14 {
		t.Errorf("%d rules on %d nodes", rules, nodes)
	}
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		t.Fatal(err)
	}
	object := crdtest.HTTPRouteObject("v1").Object
	if errs := validation.ValidateCustomResource(nil, object, validator); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	if errs, _ := rules.Validate(t.Context(), nil, structural, object, nil, celconfig.RuntimeCELCostBudget); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func count(s *structuralschema.Structural) (rules, nodes int) {
	if rules = len(s.XValidations); rules > 0 {
		nodes = 1
	}
	add := func(s *structuralschema.Structural) {
		r, n := count(s)
		rules, nodes = rules+r, nodes+n
	}
	for _, property := range s.Properties {
		add(&property)
	}
	if s.Items != nil {
		add(s.Items)
	}
	return rules, nodes
}
