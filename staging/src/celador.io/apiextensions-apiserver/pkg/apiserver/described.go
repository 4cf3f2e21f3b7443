// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/apiextensions-apiserver/pkg/crdinformer"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// described is an informer for upstream's controllers of OpenAPI documents. Its lister appends the
// default rules, for which upstream's schemas have no field, to the descriptions of the fields.
type described struct {
	informers.CustomResourceDefinitionInformer
	expressions *crdinformer.ExpressionCache
}

// Lister implements informers.CustomResourceDefinitionInformer.
func (d described) Lister() listers.CustomResourceDefinitionLister {
	lister := d.CustomResourceDefinitionInformer.Lister()
	if !utilfeature.DefaultFeatureGate.Enabled(features.CustomResourceDefaultExpressions) {
		return lister
	}
	return describedLister{lister, d.expressions}
}

type describedLister struct {
	listers.CustomResourceDefinitionLister
	expressions *crdinformer.ExpressionCache
}

// List implements listers.CustomResourceDefinitionLister.
func (l describedLister) List(selector labels.Selector) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	crds, err := l.CustomResourceDefinitionLister.List(selector)
	for i := range crds {
		crds[i] = l.describe(crds[i])
	}
	return crds, err
}

// Get implements listers.CustomResourceDefinitionLister.
func (l describedLister) Get(name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd, err := l.CustomResourceDefinitionLister.Get(name)
	if err != nil {
		return nil, err
	}
	return l.describe(crd), nil
}

// describe returns the CustomResourceDefinition itself or, if it has default rules, a copy with
// sentences about the rules in the descriptions of their fields.
func (l describedLister) describe(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	expressions := l.expressions.Of(crd)
	if !expressions.HasDefaults() {
		return crd
	}
	crd = crd.DeepCopy()
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
			defaulting.Describe(version.Schema.OpenAPIV3Schema, expressions.Defaults[version.Name])
		}
	}
	return crd
}
