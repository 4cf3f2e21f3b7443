// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
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
	// values is the memory of the input's values.
	values values.Memory
}

// set sets the target, and the input to the objects of the request in the version of the target.
func (in *targetInput) set(r *matching.Request, target *matching.Target, objects admission.ObjectInterfaces, authorizer *activation.Authorizer) error {
	object, err := convert(r.GetObject(), target.Kind, objects)
	if err != nil {
		return err
	}
	oldObject, err := convert(r.GetOldObject(), target.Kind, objects)
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
}

// convert returns the object in the given version, and nil for nil.
func convert(object runtime.Object, to schema.GroupVersionKind, objects admission.ObjectInterfaces) (runtime.Object, error) {
	if object == nil {
		return nil, nil
	}
	return admission.ConvertToGVK(object, to, objects)
}
