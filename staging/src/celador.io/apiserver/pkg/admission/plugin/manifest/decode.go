// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"reflect"

	upstreamv1 "k8s.io/api/admissionregistration/v1"
	upstreamv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	upstreamv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"celador.io/admission/defaults"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1alpha1"
	"celador.io/api/admissionregistration/v1beta1"
)

var (
	// scheme holds v1.List and all kinds of the group in all versions, so that the error for an
	// object of an unsupported kind names the kind. Objects of the internal version are decoded as
	// unstructured ones, and then refused with Kubernetes' error.
	scheme  = runtime.NewScheme()
	decoder = serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
)

func init() {
	stock := runtime.NewScheme()
	utilruntime.Must(errors.Join(
		v1.AddToScheme(scheme), v1beta1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), defaults.RegisterDefaults(scheme),
		upstreamv1.AddToScheme(stock), upstreamv1beta1.AddToScheme(stock), upstreamv1alpha1.AddToScheme(stock)))
	for kind, goType := range stock.AllKnownTypes() {
		if !scheme.Recognizes(kind) {
			scheme.AddKnownTypeWithName(kind, reflect.New(goType).Interface().(runtime.Object))
		}
		if internal := kind.GroupKind().WithVersion(runtime.APIVersionInternal); !scheme.Recognizes(internal) {
			scheme.AddKnownTypeWithName(internal, &unstructured.Unstructured{})
		}
	}
	scheme.AddUnversionedTypes(metav1.SchemeGroupVersion, &metav1.List{})
}

// decode calls accept for the object in a document, or for each object in a v1.List.
func decode(document []byte, accept func(runtime.Object) error) error {
	object, _, err := decoder.Decode(document, nil, nil)
	if err != nil {
		return err
	}
	return unwrap(object, accept)
}

func unwrap(object runtime.Object, accept func(runtime.Object) error) error {
	if internal, ok := object.(*unstructured.Unstructured); ok {
		// Kubernetes' error contains the Go type of its internal version, and so does this one.
		return fmt.Errorf("unsupported resource type *admissionregistration.%s", internal.GetKind())
	}
	list, ok := object.(*metav1.List)
	if !ok {
		return accept(object)
	}
	for _, item := range list.Items {
		object, _, err := decoder.Decode(item.Raw, nil, nil)
		if err != nil {
			return fmt.Errorf("failed to decode list item: %w", err)
		}
		if err := unwrap(object, accept); err != nil {
			return err
		}
	}
	return nil
}
