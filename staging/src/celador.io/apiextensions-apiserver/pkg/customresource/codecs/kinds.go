// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package codecs

import (
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NewOptionsScheme returns a scheme of ListOptions, GetOptions and DeleteOptions in the given group
// and version. Requests for custom resources have them in their URL or body.
func NewOptionsScheme(gv schema.GroupVersion) *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddUnversionedTypes(gv, &metav1.ListOptions{}, &metav1.GetOptions{}, &metav1.DeleteOptions{})
	return scheme
}

// Typer implements runtime.ObjectTyper. It reads the kind of an unstructured object from the
// object, and finds the kind of another Go type in a scheme.
type Typer struct {
	options      runtime.ObjectTyper
	unstructured runtime.ObjectTyper
}

// NewTyper returns a typer of custom resources and of the Go types in the options scheme.
func NewTyper(options *runtime.Scheme) Typer {
	return Typer{options: options, unstructured: crdserverscheme.NewUnstructuredObjectTyper()}
}

// ObjectKinds implements runtime.ObjectTyper.
func (t Typer) ObjectKinds(object runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	if _, ok := object.(runtime.Unstructured); ok {
		return t.unstructured.ObjectKinds(object)
	}
	return t.options.ObjectKinds(object)
}

// Recognizes implements runtime.ObjectTyper.
func (t Typer) Recognizes(gvk schema.GroupVersionKind) bool {
	return t.options.Recognizes(gvk) || t.unstructured.Recognizes(gvk)
}

// Creater implements runtime.ObjectCreater for custom resources.
type Creater struct{}

// New returns an empty object of the kind. The error is always nil.
func (Creater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}
