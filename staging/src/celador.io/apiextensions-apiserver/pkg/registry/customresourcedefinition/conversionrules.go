// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// validateConversionRules checks the converters, and returns warnings about data that they lose.
// old is nil on create. If the converters and the schemas have not changed, they are not checked,
// because this server may check more than the one that stored them.
func validateConversionRules(crd, old *apiextensions.CustomResourceDefinition) (field.ErrorList, []string) {
	if !crd.Expressions.HasConversion() {
		return nil, nil
	}
	path := field.NewPath("spec", "conversion")
	if !crd.Expressions.ConversionRules {
		var errs field.ErrorList
		if len(crd.Expressions.Converters) > 0 {
			errs = append(errs, field.Forbidden(path.Child("converters"), "may only be set if strategy is ConversionRules"))
		}
		if len(crd.Expressions.Tables) > 0 {
			errs = append(errs, field.Forbidden(path.Child("tables"), "may only be set if strategy is ConversionRules"))
		}
		return errs, nil
	}
	if preserve := crd.Spec.PreserveUnknownFields; preserve != nil && *preserve {
		return field.ErrorList{field.Invalid(path.Child("strategy"), v1.ConversionRules, "must be None if spec.preserveUnknownFields is true")}, nil
	}
	current := conversionSpec(crd)
	if old == nil || !old.Expressions.HasConversion() {
		return conversion.Validate(path, current, nil)
	}
	previous := conversionSpec(old)
	if old.Expressions.ConversionRules && apiequality.Semantic.DeepEqual(current, previous) {
		return nil, nil
	}
	return conversion.Validate(path, current, previous)
}

// conversionSpec returns the fields of a CustomResourceDefinition on which conversion depends. It
// takes the kind from the spec, because a new CustomResourceDefinition has no accepted names yet.
func conversionSpec(crd *apiextensions.CustomResourceDefinition) *conversion.CRDSpec {
	spec := &conversion.CRDSpec{
		Kind:       schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
		Converters: crd.Expressions.Converters,
		Tables:     crd.Expressions.Tables,

		ClusterScoped: crd.Spec.Scope == upstream.ClusterScoped,
	}
	for _, v := range crd.Spec.Versions {
		spec.Versions = append(spec.Versions, conversion.Version{Name: v.Name, Schema: structural(part(crd), v.Name)})
	}
	return spec
}

// structural returns the structural schema of a version, or nil if there is none. Kubernetes'
// validation reports schemas that are not structural.
func structural(crd *upstream.CustomResourceDefinition, version string) *structuralschema.Structural {
	validation, err := upstream.GetSchemaForVersion(crd, version)
	if err != nil || validation == nil {
		return nil
	}
	schema, err := structuralschema.NewStructural(validation.OpenAPIV3Schema)
	if err != nil {
		return nil
	}
	return schema
}
