// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/conversion"
)

// Split divides a CustomResourceDefinition into Kubernetes' part and the fields of expressions,
// which are nil if it has none. If the conversion strategy is ConversionRules, that of Kubernetes'
// part is None. Both results share memory with the CustomResourceDefinition.
func Split(crd *v1.CustomResourceDefinition) (*upstreamv1.CustomResourceDefinition, *apiextensions.ExpressionFields, error) {
	part := &upstreamv1.CustomResourceDefinition{}
	if err := Convert_v1_CustomResourceDefinition_To_upstream_CustomResourceDefinition(crd, part, nil); err != nil {
		return nil, nil, err
	}
	expressions := collectExpressions(crd)
	if expressions != nil && expressions.ConversionRules {
		none := *part.Spec.Conversion
		none.Strategy = upstreamv1.NoneConverter
		part.Spec.Conversion = &none
	}
	return part, expressions, nil
}

// toInternal converts a CustomResourceDefinition to the internal version through Kubernetes' v1.
func toInternal(in *v1.CustomResourceDefinition, out *apiextensions.CustomResourceDefinition, scope conversion.Scope) error {
	part, expressions, err := Split(in)
	if err != nil {
		return err
	}
	out.Expressions = expressions
	return upstreamv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(part, &out.CustomResourceDefinition, scope)
}

// fromInternal converts a CustomResourceDefinition from the internal version to v1. It uses
// Kubernetes' conversion to Kubernetes' v1 for all fields that Kubernetes has, and then sets the
// expressions.
func fromInternal(in *apiextensions.CustomResourceDefinition, out *v1.CustomResourceDefinition, scope conversion.Scope) error {
	var part upstreamv1.CustomResourceDefinition
	if err := upstreamv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(&in.CustomResourceDefinition, &part, scope); err != nil {
		return err
	}
	if err := Convert_upstream_CustomResourceDefinition_To_v1_CustomResourceDefinition(&part, out, scope); err != nil {
		return err
	}
	return insertExpressions(in.Expressions, out)
}

func listToInternal(in *v1.CustomResourceDefinitionList, out *apiextensions.CustomResourceDefinitionList, scope conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = convertItems(in.Items, toInternal, scope)
	return err
}

func listFromInternal(in *apiextensions.CustomResourceDefinitionList, out *v1.CustomResourceDefinitionList, scope conversion.Scope) (err error) {
	out.ListMeta = in.ListMeta
	out.Items, err = convertItems(in.Items, fromInternal, scope)
	return err
}

// convertItems returns nil for nil, because an empty list and none differ in JSON.
func convertItems[In, Out any](in []In, convert func(*In, *Out, conversion.Scope) error, scope conversion.Scope) ([]Out, error) {
	if in == nil {
		return nil, nil
	}
	out := make([]Out, len(in))
	for i := range in {
		if err := convert(&in[i], &out[i], scope); err != nil {
			return nil, err
		}
	}
	return out, nil
}
