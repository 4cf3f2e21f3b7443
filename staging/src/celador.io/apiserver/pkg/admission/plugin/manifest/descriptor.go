// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// An APIObject is a policy or a binding.
type APIObject interface {
	metav1.Object
	runtime.Object
}

// A Descriptor describes the policies or the bindings that a Loader loads. All fields are required.
type Descriptor[T APIObject] struct {
	// Name is the kind's name in errors.
	Name string
	// Items returns the objects of a decoded document. It returns false if the document is neither
	// an object of the kind that the Descriptor describes nor a list of such objects.
	Items func(runtime.Object) (items []T, ok bool)
	// Validate returns the validation errors of an object with defaults.
	Validate func(T) field.ErrorList
	// HasParams reports whether an object refers to params. Clients write params, so policies in
	// files must not depend on them.
	HasParams func(T) bool
}

// Items returns a value for the field Items of a Descriptor, for the Go types of a kind and of its
// list. in returns the items of a list.
func Items[T, List any](in func(*List) []T) func(runtime.Object) ([]*T, bool) {
	return func(object runtime.Object) ([]*T, bool) {
		switch object := object.(any).(type) {
		case *T:
			return []*T{object}, true
		case *List:
			items := in(object)
			pointers := make([]*T, len(items))
			for i := range items {
				pointers[i] = &items[i]
			}
			return pointers, true
		}
		return nil, false
	}
}
