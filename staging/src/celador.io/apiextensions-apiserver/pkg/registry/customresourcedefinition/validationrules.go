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
// checker. Kubernetes' validation would compile them, and cannot be interrupted.
func checkValidationRules(crd *upstream.CustomResourceDefinition) (errs field.ErrorList) {
	forEachLargeRule(crd, func(_ *upstream.ValidationRule, err *field.Error) { errs = append(errs, err) })
	return errs
}

// withoutStoredLargeRules is checkValidationRules for updates. Servers of Kubernetes store rules
// that are too large. They are accepted in a schema that has not changed: withoutStoredLargeRules
// then returns copies of both CustomResourceDefinitions without these rules, for Kubernetes'
// validation.
func withoutStoredLargeRules(crd, old *upstream.CustomResourceDefinition) (updated, stored *upstream.CustomResourceDefinition, errs field.ErrorList) {
	large := checkValidationRules(crd)
	errs = slices.DeleteFunc(slices.Clone(large), func(err *field.Error) bool { return hasStoredSchema(err.Field, crd, old) })
	if len(errs) == len(large) {
		return crd, old, errs
	}
	updated, stored = crd.DeepCopy(), old.DeepCopy()
	for _, copied := range []*upstream.CustomResourceDefinition{updated, stored} {
		forEachLargeRule(copied, func(rule *upstream.ValidationRule, _ *field.Error) { *rule = upstream.ValidationRule{Rule: "true"} })
	}
	return updated, stored, errs
}

// forEachLargeRule calls f with each validation rule that is too large for the type checker, and
// with the error for it. f may change the rule.
func forEachLargeRule(crd *upstream.CustomResourceDefinition, f func(*upstream.ValidationRule, *field.Error)) {
	spec := field.NewPath("spec")
	if crd.Spec.Validation != nil {
		forEachLargeRuleOf(crd.Spec.Validation.OpenAPIV3Schema, spec.Child("validation", "openAPIV3Schema"), f)
	}
	for i, version := range crd.Spec.Versions {
		if version.Schema != nil {
			forEachLargeRuleOf(version.Schema.OpenAPIV3Schema, spec.Child("versions").Index(i).Child("schema", "openAPIV3Schema"), f)
		}
	}
}

func forEachLargeRuleOf(s *upstream.JSONSchemaProps, path *field.Path, f func(*upstream.ValidationRule, *field.Error)) {
	if s == nil {
		return
	}
	for i := range s.XValidations {
		rule := &s.XValidations[i]
		for _, expression := range []struct{ name, source string }{{"rule", rule.Rule}, {"messageExpression", rule.MessageExpression}} {
			if err := schemaexpression.Default().CheckNodes(expression.source); err != nil {
				f(rule, field.Invalid(path.Child("x-kubernetes-validations").Index(i).Child(expression.name), ruleerror.Abbreviate(expression.source), err.Error()))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		forEachLargeRuleOf(&property, path.Child("properties").Key(name), f)
	}
	if s.AdditionalProperties != nil {
		forEachLargeRuleOf(s.AdditionalProperties.Schema, path.Child("additionalProperties"), f)
	}
	if s.Items != nil {
		forEachLargeRuleOf(s.Items.Schema, path.Child("items"), f)
	}
	for _, of := range []struct {
		name    string
		schemas []upstream.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"anyOf", s.AnyOf}, {"oneOf", s.OneOf}} {
		for i := range of.schemas {
			forEachLargeRuleOf(&of.schemas[i], path.Child(of.name).Index(i), f)
		}
	}
	forEachLargeRuleOf(s.Not, path.Child("not"), f)
}
