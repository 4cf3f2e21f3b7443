// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"context"
	"fmt"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/component-base/featuregate"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// dropDisabledExpressions removes the fields whose gates are off, unless the stored expressions use
// them. It warns about each kind of fields. old is nil on create, and for a
// CustomResourceDefinition without expressions.
//
// The strategy ConversionRules is a value of a field of Kubernetes, and is not dropped. If its gate
// is off, it is written to that field, spec.conversion.strategy, where Kubernetes' validation
// refuses it like any unknown strategy.
func dropDisabledExpressions(ctx context.Context, crd *apiextensions.CustomResourceDefinition, old *apiextensions.ExpressionFields) {
	if crd.Expressions.IsEmpty() {
		crd.Expressions = nil
		return
	}
	kept := *crd.Expressions
	if !old.HasDefaults() && !utilfeature.DefaultFeatureGate.Enabled(features.CustomResourceDefaultExpressions) {
		if kept.HasDefaults() {
			warnDropped(ctx, "x-kubernetes-default in the schemas", features.CustomResourceDefaultExpressions)
		}
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
		if len(kept.Converters) > 0 {
			warnDropped(ctx, "spec.conversion.converters", features.CustomResourceConversionRules)
		}
		if len(kept.Tables) > 0 {
			warnDropped(ctx, "spec.conversion.tables", features.CustomResourceConversionRules)
		}
		kept.ConversionRules, kept.Converters, kept.Tables = false, nil, nil
	}
	crd.Expressions = &kept
	if kept.IsEmpty() {
		crd.Expressions = nil
	}
}

// warnDropped warns that the API drops a field whose feature gate is off.
func warnDropped(ctx context.Context, field string, gate featuregate.Feature) {
	warning.AddWarning(ctx, "", fmt.Sprintf("%s: dropped, because the feature gate %s is off", field, gate))
}
