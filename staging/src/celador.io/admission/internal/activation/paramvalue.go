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

// ParamValue holds a param object and caches its value. A nil *ParamValue stands for null. Not safe
// for concurrent use.
type ParamValue struct {
	object *unstructured.Unstructured
	form   Form
	// cached is nil until the value is first read.
	cached ref.Val
}

// NewParamValue returns the value of 'params' in the given form. It returns nil, which expressions
// read as null, for a nil object.
//
// In the form Typed, objects of built-in kinds have neither apiVersion nor kind, because
// Kubernetes' informers deliver them without. Mutating policies read params in this form.
// Validating policies read them in the form Unstructured, which has both fields.
func NewParamValue(object *unstructured.Unstructured, form Form) *ParamValue {
	if object == nil {
		return nil
	}
	return &ParamValue{object: object, form: form}
}

// Of reports whether p holds the given object, by identity.
func (p *ParamValue) Of(object *unstructured.Unstructured) bool {
	if p == nil {
		return object == nil
	}
	return p.object == object
}

// value returns the CEL value of the param, or nil for null.
func (p *ParamValue) value() ref.Val {
	if p == nil {
		return nil // null, see ObjectValue
	}
	if p.cached == nil {
		p.cached = ObjectValue(p.formed(), p.form)
	}
	return p.cached
}

// formed returns the Go object of which the value is made: the unstructured param or, in the form
// Typed, the param as client-go's Go type of its kind. If client-go has no type for the kind, or
// the param does not convert to it, formed returns the unstructured param.
func (p *ParamValue) formed() runtime.Object {
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
