// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/internal/activation"
)

// objectValues holds the values of 'object' and 'oldObject' for the policies that match one kind.
//
// Kubernetes converts an object for CEL when an expression first reads it, and keeps the conversion
// until a mutation replaces the object. The conversion starts from the unstructured form of the
// object, or from the Go type once match conditions were evaluated, and the two forms show some
// fields differently. objectValues therefore records the form of each object.
type objectValues struct {
	schema.GroupVersionKind
	// tried is set once the engine has tried to convert the request's object to the kind. err is
	// the error of this attempt.
	tried             bool
	err               error
	form              activation.Form
	object, oldObject reading
}

// A reading is the CEL value of one object, and the form from which it was converted.
type reading struct {
	// form tells whether value is made from the Go type or the unstructured form of the object.
	// fixed is set when an expression first reads the object. Later expressions read the same form
	// until a mutation replaces the object, because Kubernetes converts the object only once.
	form  activation.Form
	fixed bool
	// value is the CEL value of object, nil until it is read.
	value  ref.Val
	object runtime.Object
}

// valuesOf returns the values for a kind. It adds them on the first call.
func (r *applier) valuesOf(kind schema.GroupVersionKind) *objectValues {
	for _, v := range r.values {
		if v.GroupVersionKind == kind {
			return v
		}
	}
	v := &objectValues{GroupVersionKind: kind, form: activation.Unstructured}
	r.values = append(r.values, v)
	return v
}

// convert converts the objects of the request to a kind. It clears the cached values, because
// the conversion may return the same Go objects as before with other content.
func (r *applier) convert(kind schema.GroupVersionKind) error {
	if r.versioned.VersionedKind == kind {
		return nil
	}
	values := r.valuesOf(kind)
	values.object.value, values.oldObject.value = nil, nil
	return admission.ConvertVersionedAttributes(r.versioned, kind, r.objects)
}

// show returns the CEL value of an object. The first call decides the form of the value. Until a
// mutation replaces the object, later calls return the same form, whatever the argument form is.
func (r *reading) show(object runtime.Object, form activation.Form) ref.Val {
	if !r.fixed {
		if r.form != form {
			r.form, r.value = form, nil
		}
		r.fixed = true
	}
	if r.value == nil || r.object != object {
		r.object, r.value = object, activation.ObjectValue(object, r.form)
	}
	return r.value
}

// mutated is called after a mutation has replaced the object. The next expression that reads
// 'object' decides its form again (see reading.fixed).
func (v *objectValues) mutated() { v.object.fixed = false }

// unconvertible returns an error if Kubernetes would fail to convert an object to the form in which
// expressions read it. Kubernetes converts the whole object, also parts that no expression reads.
func (v *objectValues) unconvertible() error {
	for _, read := range []struct {
		name string
		*reading
	}{{"oldObject", &v.oldObject}, {"object", &v.object}} {
		if read.object == nil || read.form == activation.Typed {
			continue
		}
		if _, err := admission.ConvertObjectToUnstructured(read.object); err != nil {
			return fmt.Errorf("failed to prepare %s variable for evaluation: %w", read.name, err)
		}
	}
	return nil
}
