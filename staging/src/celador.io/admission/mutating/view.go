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

// A view tracks the form in which expressions read the objects of a request, in one version. The form
// follows upstream's admission.VersionedAttributes: objects are unstructured until match conditions
// are evaluated, and typed afterwards. An object that expressions have read keeps its form until a
// mutation replaces it.
type view struct {
	schema.GroupVersionKind
	form              activation.Form
	object, oldObject reading
}

// A reading is the value of one object of a view.
type reading struct {
	// form is the form of value. fixed is set if it must not change.
	form  activation.Form
	fixed bool
	// value is the CEL value of object, nil until it is read.
	value  ref.Val
	object runtime.Object
}

// view returns the view of a kind, and adds it on the first call.
func (r *applier) view(kind schema.GroupVersionKind) *view {
	for _, v := range r.views {
		if v.GroupVersionKind == kind {
			return v
		}
	}
	v := &view{GroupVersionKind: kind, form: activation.Unstructured}
	r.views = append(r.views, v)
	return v
}

// convert converts the objects of the request to a kind. It clears the cached values, because
// the conversion may return the same Go objects as before with other content.
func (r *applier) convert(kind schema.GroupVersionKind) error {
	if r.versioned.VersionedKind == kind {
		return nil
	}
	view := r.view(kind)
	view.object.value, view.oldObject.value = nil, nil
	return admission.ConvertVersionedAttributes(r.versioned, kind, r.objects)
}

// show returns the CEL value of an object. The first call fixes the form, and later calls ignore their
// form argument until the reading is unfixed.
func (r *reading) show(object runtime.Object, form activation.Form) ref.Val {
	if !r.fixed {
		if r.form != form {
			r.form, r.value = form, nil
		}
		r.fixed = true
	}
	if r.value == nil || r.object != object {
		r.object, r.value = object, activation.ObjectValue(object, r.form, nil)
	}
	return r.value
}

// mutated unfixes the form of the object. It is called after a mutation replaced the object.
func (v *view) mutated() { v.object.fixed = false }

// unconvertible returns an error if upstream could not convert an object to the form in which
// expressions read it. Upstream converts the whole object, even if expressions did not read the
// part that does not convert.
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
