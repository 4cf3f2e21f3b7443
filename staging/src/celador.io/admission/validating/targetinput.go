// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/cel/values"
	"celador.io/admission/internal/activation"
	"celador.io/admission/matching"
)

// targetInput is the input that all policies with the same target share. Its memory is reused for
// other requests. Not safe for concurrent use.
type targetInput struct {
	// target is nil if the memory is not in use.
	target *matching.Target
	activation.Input
	object, oldObject convertedObject
	// values is the memory of the input's values.
	values values.Memory
}

// set sets the target, and the input to the objects of the request in the version of the target.
func (in *targetInput) set(r *matching.Request, target *matching.Target, objects admission.ObjectInterfaces, authorizer *activation.Authorizer) error {
	object, err := in.object.convert(r.GetObject(), target.Kind, objects)
	if err != nil {
		return err
	}
	oldObject, err := in.oldObject.convert(r.GetOldObject(), target.Kind, objects)
	if err != nil {
		return err
	}
	in.target = target
	in.Input.Reset(&in.values, r.Attributes, target.Resource, target.Kind, object, oldObject, authorizer)
	return nil
}

// clear drops all references to the request.
func (in *targetInput) clear() {
	in.Free()
	in.target, in.Input = nil, activation.Input{}
	in.values.Clear()
	in.object.clear()
	in.oldObject.clear()
}

// convertedObject converts one object after the other. It reuses the memory of the object before if
// both have the same kind, as built-in objects take a kilobyte or more. It implements
// admission.ObjectInterfaces during a conversion.
type convertedObject struct {
	admission.ObjectInterfaces
	// scheme has created object, which is of the given kind. Both are nil until there is memory to
	// reuse.
	scheme *runtime.Scheme
	object runtime.Object
	kind   schema.GroupVersionKind
}

// convert returns the object in the given version, which is valid until clear. It returns nil for
// nil.
func (c *convertedObject) convert(object runtime.Object, to schema.GroupVersionKind, objects admission.ObjectInterfaces) (runtime.Object, error) {
	if object == nil {
		return nil, nil
	}
	c.ObjectInterfaces = objects
	return admission.ConvertToGVK(object, to, c)
}

// GetObjectCreater implements admission.ObjectInterfaces.
func (c *convertedObject) GetObjectCreater() runtime.ObjectCreater { return c }

// New implements runtime.ObjectCreater. Only objects of a scheme are reused: they are structs
// without references to other owners once they are zero.
func (c *convertedObject) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	creater := c.ObjectInterfaces.GetObjectCreater()
	scheme, ok := creater.(*runtime.Scheme)
	if !ok {
		return creater.New(kind)
	}
	if scheme == c.scheme && kind == c.kind {
		return c.object, nil
	}
	object, err := scheme.New(kind)
	if err != nil {
		return nil, err
	}
	c.scheme, c.object, c.kind = scheme, object, kind
	return object, nil
}

// clear makes the memory of the object available to the next conversion.
func (c *convertedObject) clear() {
	if c.ObjectInterfaces == nil {
		return
	}
	c.ObjectInterfaces = nil
	if c.object != nil {
		reflect.ValueOf(c.object).Elem().SetZero()
	}
}
