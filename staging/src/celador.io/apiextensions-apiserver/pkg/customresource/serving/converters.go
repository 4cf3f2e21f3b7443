// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"errors"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// converters holds the converters between the versions of a CustomResourceDefinition, one for each
// use. They differ in whether the input survives, in what a failing rule does, and in whether
// conversion rules are evaluated by Celador.
type converters struct {
	// safe leaves its input as it is. unsafe may change it, and its results share values with it.
	safe, unsafe runtime.ObjectConvertor
	// comparing converts the objects that field managers compare to find out which fields a write
	// has changed. Like safe, it leaves its input as it is. A conversion rule that fails leaves its
	// field unset, since an object that does not convert must not make all writes fail.
	comparing runtime.ObjectConvertor
	// encoding converts objects to be written, and leaves its input as it is. decoding converts
	// objects that were read, and may change its input. Both coerce their results to the schema.
	encoding, decoding runtime.ObjectConvertor

	// The converters below exist with the strategy ConversionRules only.

	// rules converts the objects of the shared storage, and may change its input. Its conversions
	// fail while the feature gate is off.
	rules *rulesConverter
	// checked converts the objects that writeChecks check and that server-side apply merges, and
	// leaves its input as it is. Nil while the feature gate is off.
	checked *rulesConverter
	// identical reports whether objects of two versions differ in their apiVersion alone. Nil while
	// the feature gate is off.
	identical func(from, to string) bool
}

// converters returns the converters of a CustomResourceDefinition. s holds its schemas.
func (b *Builder) converters(crd *apiextensionsv1.CustomResourceDefinition, expressions *apiextensions.ExpressionFields, s *schemas.Schemas) (converters, error) {
	if strategyOf(crd) != v1.ConversionRules {
		safe, unsafe, err := b.Converters.NewConverter(crd)
		return converters{safe: safe, unsafe: unsafe, comparing: safe, encoding: s.Converter(safe), decoding: s.Converter(unsafe)}, err
	}
	if expressions == nil {
		return converters{}, errors.New("the converters of spec.conversion are missing")
	}
	none := *crd
	none.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	_, upstream, err := b.Converters.NewConverter(&none)
	if err != nil {
		return converters{}, err
	}
	spec := enabledRules(crd, expressions, s)
	unsafe := &rulesConverter{
		ObjectConvertor: upstream,
		crd:             crd.Name,
		versions:        map[schema.GroupVersion]bool{},
		schemas:         s,
		uncoerced:       newObjectConverter(spec),
	}
	for _, v := range crd.Spec.Versions {
		unsafe.versions[schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name}] = true
	}
	safe := new(*unsafe)
	safe.safe = true
	comparing := new(*safe)
	comparing.partial = true
	all := converters{safe: safe, unsafe: unsafe, comparing: comparing, encoding: safe, decoding: unsafe, rules: unsafe}
	if spec != nil {
		all.checked, all.identical = safe, spec.Identical
	}
	return all, nil
}

func strategyOf(crd *apiextensionsv1.CustomResourceDefinition) v1.ConversionStrategyType {
	if crd.Spec.Conversion == nil {
		return v1.NoneConverter
	}
	return v1.ConversionStrategyType(crd.Spec.Conversion.Strategy)
}

// enabledRules returns the conversion rules of a CustomResourceDefinition with the schemas of its
// versions, or nil while the feature gate is off.
func enabledRules(crd *apiextensionsv1.CustomResourceDefinition, expressions *apiextensions.ExpressionFields, s *schemas.Schemas) *conversion.CRDSpec {
	if !utilfeature.DefaultFeatureGate.Enabled(features.CustomResourceConversionRules) {
		return nil
	}
	spec := &conversion.CRDSpec{
		Kind:       schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Status.AcceptedNames.Kind},
		Converters: expressions.Converters,
		Tables:     expressions.Tables,

		ClusterScoped: crd.Spec.Scope == apiextensionsv1.ClusterScoped,
	}
	for _, v := range crd.Spec.Versions {
		spec.Versions = append(spec.Versions, conversion.Version{Name: v.Name, Schema: s.Structural(v.Name)})
	}
	return spec
}

// newObjectConverter returns a converter that evaluates the rules of spec. If spec is nil, because
// the feature gate is off, its conversions fail.
func newObjectConverter(spec *conversion.CRDSpec) objectConverter {
	if spec == nil {
		return failing{&conversion.Error{Reason: conversion.ReasonDisabled, Err: errDisabled}}
	}
	return conversion.New(spec)
}

var errDisabled = errors.New("the CustomResourceDefinition has conversion rules, and the feature gate " + string(features.CustomResourceConversionRules) +
	" is off on this server: turn it on, or request the version in which the object is stored")

// failing is an objectConverter that always fails.
type failing struct{ cause *conversion.Error }

// ConvertMetadata fails, because rules may write metadata.
func (f failing) ConvertMetadata(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	return f.Convert(ctx, in, toVersion)
}

func (failing) ChangesLabels(string, string) bool   { return false }
func (failing) ChangesMetadata(string, string) bool { return true }

func (f failing) Convert(_ context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	failure := *f.cause
	failure.Kind, failure.Namespace, failure.Name = in.GetKind(), in.GetNamespace(), in.GetName()
	failure.From, failure.To = in.GroupVersionKind().Version, toVersion
	return nil, &failure
}

func (f failing) ConvertPartial(ctx context.Context, in, _ *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	return f.Convert(ctx, in, toVersion)
}
