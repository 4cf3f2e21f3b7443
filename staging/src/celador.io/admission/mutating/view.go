// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/activation"
)

// view is the form in which expressions read the objects of a request, in one kind. It
// changes in the course of the request as that of upstream's admission.VersionedAttributes
// does: objects are unstructured until match conditions are evaluated, and typed from then on;
// but an object that was read keeps its form until a mutation replaces it.
type view struct {
	schema.GroupVersionKind
	form              activation.Form
	object, oldObject reading
}

// reading is one of the objects of a view.
type reading struct {
	// form is that of the first reading. It is fixed then.
	form  activation.Form
	fixed bool
	// value shows object. Nil until it is read.
	value  ref.Val
	object runtime.Object
}

// view returns the view of a kind.
func (r *run) view(kind schema.GroupVersionKind) *view {
	for _, v := range r.views {
		if v.GroupVersionKind == kind {
			return v
		}
	}
	v := &view{GroupVersionKind: kind, form: activation.Unstructured}
	r.views = append(r.views, v)
	return v
}

// convert converts the objects of the request to a kind. They may be the same Go objects as
// before in that kind, with other content.
func (r *run) convert(kind schema.GroupVersionKind) error {
	if r.versioned.VersionedKind == kind {
		return nil
	}
	view := r.view(kind)
	view.object.value, view.oldObject.value = nil, nil
	return admission.ConvertVersionedAttributes(r.versioned, kind, r.objects)
}

// show returns the value of an object, in the given form if it is the first reading.
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

// mutated releases the form of the object. The next reading fixes it again.
func (v *view) mutated() { v.object.fixed = false }

// unconvertible returns an error if upstream cannot convert an object to the form in which
// expressions read it. They may not have read the part that does not convert.
func (v *view) unconvertible() error {
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
