// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"maps"
	"slices"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// dropDisabledExpressions removes the fields whose gates are off, unless the stored expressions use
// them. old is nil on create, and for a CustomResourceDefinition without expressions.
//
// A strategy ConversionRules is a value and not a field: it is handed to Kubernetes' part, whose
// validation refuses it as it refuses every strategy that it does not know.
func dropDisabledExpressions(crd *apiextensions.CustomResourceDefinition, old *apiextensions.Expressions) {
	if crd.Expressions.IsEmpty() {
		crd.Expressions = nil
		return
	}
	kept := *crd.Expressions
	if !old.HasDefaults() && !utilfeature.DefaultFeatureGate.Enabled(features.CustomResourceDefaultExpressions) {
		kept.Defaults = nil
	}
	if !old.HasConversion() && !utilfeature.DefaultFeatureGate.Enabled(features.CustomResourceConversionRules) {
		if kept.ConversionRules {
			conversion := upstream.CustomResourceConversion{}
			if crd.Spec.Conversion != nil {
				conversion = *crd.Spec.Conversion
			}
			conversion.Strategy = upstream.ConversionStrategyType(v1.ConversionRules)
			crd.Spec.Conversion = &conversion
		}
		kept.ConversionRules, kept.Converters = false, nil
	}
	crd.Expressions = &kept
	if kept.IsEmpty() {
		crd.Expressions = nil
	}
}

// validateExpressions returns an error for every expression that is not stored yet, since the server
// does not evaluate expressions so far. old is nil on create, and for a CustomResourceDefinition without expressions.
func validateExpressions(crd *apiextensions.CustomResourceDefinition, old *apiextensions.Expressions) field.ErrorList {
	expressions := crd.Expressions
	if expressions.IsEmpty() {
		return nil
	}
	if old == nil {
		old = &apiextensions.Expressions{}
	}
	var errs field.ErrorList
	spec := field.NewPath("spec")
	for i, version := range crd.Spec.Versions {
		defaults := expressions.Defaults[version.Name]
		root := spec.Child("versions").Index(i).Child("schema", "openAPIV3Schema")
		for _, path := range slices.Sorted(maps.Keys(defaults)) {
			if !apiequality.Semantic.DeepEqual(defaults[path], old.Defaults[version.Name][path]) {
				errs = append(errs, field.Forbidden(path.Field(root).Child("x-kubernetes-default"), "this server does not support default expressions yet; use default"))
			}
		}
	}
	conversion := spec.Child("conversion")
	if expressions.ConversionRules && !old.ConversionRules {
		errs = append(errs, field.Forbidden(conversion.Child("strategy"), "this server does not support ConversionRules yet; use None or Webhook"))
	}
	if len(expressions.Converters) > 0 && !apiequality.Semantic.DeepEqual(expressions.Converters, old.Converters) {
		errs = append(errs, field.Forbidden(conversion.Child("converters"), "this server does not support converters yet; use the strategy Webhook"))
	}
	return errs
}
