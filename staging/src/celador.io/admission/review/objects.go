// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

var objects = NewObjects(noEquivalents{})

// NewObjects returns the admission.ObjectInterfaces for the unstructured objects of reviews.
// equivalents finds the equivalent resources that the API server serves. The interfaces do not
// convert between versions: the API server has converted the objects to a version that the
// webhook's rules name, and a policy that reads another one fails. They set no defaults: the API
// server does so after each webhook.
func NewObjects(equivalents runtime.EquivalentResourceMapper) admission.ObjectInterfaces {
	return &admission.RuntimeObjectInterfaces{
		ObjectCreater:            unstructuredscheme.NewUnstructuredCreator(),
		ObjectTyper:              unstructuredscheme.NewUnstructuredObjectTyper(),
		ObjectDefaulter:          unstructuredscheme.NewUnstructuredDefaulter(),
		ObjectConvertor:          noConversion{},
		EquivalentResourceMapper: equivalents,
	}
}

// Objects is NewObjects for a webhook that does not know which resources are equivalent. Rules then
// match only by the two resources that a review names: that of the client's request and that of the
// converted objects.
func Objects() admission.ObjectInterfaces { return objects }

// noConversion converts objects only to the kind and version that they have. It implements
// runtime.ObjectConvertor.
type noConversion struct{}

// Convert overwrites out with the content of in. It returns an error if they are of different
// kinds or versions.
func (noConversion) Convert(in, out, _ any) error {
	from, ok := in.(*unstructured.Unstructured)
	to, okTo := out.(*unstructured.Unstructured)
	if !ok || !okTo {
		return fmt.Errorf("cannot convert a %T to a %T: the objects of reviews are unstructured", in, out)
	}
	if err := checkConversion(from.GroupVersionKind(), to.GroupVersionKind()); err != nil {
		return err
	}
	to.Object = from.Object
	return nil
}

// ConvertToVersion returns in. It returns an error if in has another version.
func (noConversion) ConvertToVersion(in runtime.Object, version runtime.GroupVersioner) (runtime.Object, error) {
	kind := in.GetObjectKind().GroupVersionKind()
	target, ok := version.KindForGroupVersionKinds([]schema.GroupVersionKind{kind})
	if !ok {
		return nil, fmt.Errorf("cannot convert %s to %s: the API server converts the objects of reviews", kind, version.Identifier())
	}
	return in, checkConversion(kind, target)
}

func checkConversion(from, to schema.GroupVersionKind) error {
	if from != to {
		return fmt.Errorf("cannot convert %s to %s: the API server converts the objects of reviews", from, to)
	}
	return nil
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (noConversion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// noEquivalents implements runtime.EquivalentResourceMapper.
type noEquivalents struct{}

// EquivalentResourcesFor returns nil.
func (noEquivalents) EquivalentResourcesFor(schema.GroupVersionResource, string) []schema.GroupVersionResource {
	return nil
}

// KindFor returns the empty kind, which stands for an unknown one.
func (noEquivalents) KindFor(schema.GroupVersionResource, string) schema.GroupVersionKind {
	return schema.GroupVersionKind{}
}
