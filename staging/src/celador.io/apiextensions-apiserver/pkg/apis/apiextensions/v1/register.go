// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	v1 "celador.io/api/apiextensions/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// localSchemeBuilder exists for generated code, which registers with it the conversions between the
// types of this version and Kubernetes'. AddToScheme does not use it: this package calls those
// conversions directly.
var localSchemeBuilder runtime.SchemeBuilder

// AddToScheme registers the kinds of celador.io/api/apiextensions/v1 with their defaults, and the
// conversions between the internal version, v1, and Kubernetes' v1beta1. The types of the other
// versions have packages of their own.
func AddToScheme(scheme *runtime.Scheme) error {
	builder := runtime.NewSchemeBuilder(
		v1.AddToScheme,
		addDefaultingFuncs,
		converts(toInternal), converts(fromInternal),
		converts(listToInternal), converts(listFromInternal),
		converts(v1beta1ToInternal), converts(v1beta1FromInternal),
	)
	return builder.AddToScheme(scheme)
}

// converts returns a function that registers a conversion.
func converts[In, Out any](convert func(*In, *Out, conversion.Scope) error) func(*runtime.Scheme) error {
	return func(scheme *runtime.Scheme) error {
		return scheme.AddConversionFunc((*In)(nil), (*Out)(nil), func(in, out any, scope conversion.Scope) error {
			return convert(in.(*In), out.(*Out), scope)
		})
	}
}
