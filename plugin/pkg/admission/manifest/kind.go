// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Object is a policy or a binding.
type Object interface {
	metav1.Object
	runtime.Object
}

// Kind is one of the two kinds that a Loader looks for. No field may be nil.
type Kind[T Object] struct {
	// Name is the kind's name in errors.
	Name string
	// Items returns the objects in something decoded, if that is of this kind or a
	// list of it.
	Items func(runtime.Object) (items []T, ok bool)
	// Validate returns what is wrong with an object that has its defaults.
	Validate func(T) field.ErrorList
	// HasParams says whether an object has to do with params, which are objects that
	// clients write, and therefore not for policies in files.
	HasParams func(T) bool
}

// Items returns a Kind's function of that name for a Go type and that of its list.
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
