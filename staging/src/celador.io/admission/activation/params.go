// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Params is a param object. Not safe for concurrent use.
type Params struct {
	object *unstructured.Unstructured
	form   Form
	// made is nil until the value is first read.
	made ref.Val
}

// NewParams returns what expressions read as 'params', in a form: null for nil.
//
// In the form Typed, objects of built-in kinds have neither apiVersion nor kind. That is how
// the informers of Kubernetes deliver them, and how mutating policies read them. Validating
// policies read them Unstructured, with both.
func NewParams(object *unstructured.Unstructured, form Form) *Params {
	if object == nil {
		return nil
	}
	return &Params{object: object, form: form}
}

// Of reports whether p was made of the given object.
func (p *Params) Of(object *unstructured.Unstructured) bool {
	if p == nil {
		return object == nil
	}
	return p.object == object
}

func (p *Params) value() ref.Val {
	if p == nil {
		return nil // as ObjectValue
	}
	if p.made == nil {
		p.made = ObjectValue(p.shown(), p.form)
	}
	return p.made
}

// shown returns the param as an object of the type that its kind has in client-go, if its
// form asks for that and it fits the type.
func (p *Params) shown() runtime.Object {
	if p.form != Typed {
		return p.object
	}
	typed, err := scheme.Scheme.New(p.object.GroupVersionKind())
	if err != nil {
		return p.object // a custom resource
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(p.object.Object, typed); err != nil {
		return p.object
	}
	typed.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return typed
}
