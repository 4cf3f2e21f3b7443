// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"maps"
	"slices"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
)

// checkValidationRules returns errors about validation rules that are too large for the type
// checker. Kubernetes' validation, which compiles all rules, cannot be interrupted, so it must not
// see them.
func checkValidationRules(crd *upstream.CustomResourceDefinition) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if crd.Spec.Validation != nil {
		errs = append(errs, checkRulesOf(crd.Spec.Validation.OpenAPIV3Schema, spec.Child("validation", "openAPIV3Schema"))...)
	}
	for i, version := range crd.Spec.Versions {
		if version.Schema != nil {
			errs = append(errs, checkRulesOf(version.Schema.OpenAPIV3Schema, spec.Child("versions").Index(i).Child("schema", "openAPIV3Schema"))...)
		}
	}
	return errs
}

func checkRulesOf(s *upstream.JSONSchemaProps, path *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	for i, rule := range s.XValidations {
		for _, expression := range []struct{ name, source string }{{"rule", rule.Rule}, {"messageExpression", rule.MessageExpression}} {
			if err := schemaexpression.Default().CheckNodes(expression.source); err != nil {
				errs = append(errs, field.Invalid(path.Child("x-kubernetes-validations").Index(i).Child(expression.name), ruleerror.Abbreviate(expression.source), err.Error()))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		errs = append(errs, checkRulesOf(&property, path.Child("properties").Key(name))...)
	}
	if s.AdditionalProperties != nil {
		errs = append(errs, checkRulesOf(s.AdditionalProperties.Schema, path.Child("additionalProperties"))...)
	}
	if s.Items != nil {
		errs = append(errs, checkRulesOf(s.Items.Schema, path.Child("items"))...)
	}
	for _, of := range []struct {
		name    string
		schemas []upstream.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"anyOf", s.AnyOf}, {"oneOf", s.OneOf}} {
		for i := range of.schemas {
			errs = append(errs, checkRulesOf(&of.schemas[i], path.Child(of.name).Index(i))...)
		}
	}
	return append(errs, checkRulesOf(s.Not, path.Child("not"))...)
}
