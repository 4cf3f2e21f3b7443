// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
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
		kept.ConversionRules, kept.Converters, kept.Tables = false, nil, nil
	}
	crd.Expressions = &kept
	if kept.IsEmpty() {
		crd.Expressions = nil
	}
}
