// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apiserver/pkg/admission"
)

// An identityError reports that a mutation changes the kind, name or namespace of an object.
type identityError struct {
	text string
	// rejected is set if Kubernetes rejects the request because of the changed object, so that
	// failurePolicy Ignore must not admit it.
	rejected bool
}

// Error implements error.
func (e *identityError) Error() string { return e.text }

// checkIdentity returns an error if a mutation changes the kind, name or namespace of an object.
// The request is authorized for the original ones only. A mutation may set the name of an object
// that has none.
func (r *applier) checkIdentity(before, after runtime.Object) error {
	if old, kind := before.GetObjectKind().GroupVersionKind(), after.GetObjectKind().GroupVersionKind(); old != kind {
		return changedKind(old, kind, old.Kind != kind.Kind || !r.overwrites(after))
	}
	old, err := meta.Accessor(before)
	if err != nil {
		return nil // options of CONNECT requests have no metadata
	}
	current, err := meta.Accessor(after)
	if err != nil {
		return err
	}
	if old.GetName() != "" && old.GetName() != current.GetName() {
		return &identityError{
			fmt.Sprintf("may not change metadata.name from %q to %q", old.GetName(), current.GetName()),
			r.request.GetOperation() != admission.Create || current.GetName() == "" && current.GetGenerateName() == "",
		}
	}
	if old.GetNamespace() != current.GetNamespace() {
		// API servers set a missing namespace, and remove that of a cluster-scoped object, so these
		// changes do not reject the request.
		return &identityError{
			fmt.Sprintf("may not change metadata.namespace from %q to %q", old.GetNamespace(), current.GetNamespace()),
			old.GetNamespace() != "" && current.GetNamespace() != "",
		}
	}
	return nil
}

// overwrites reports whether writeBack could overwrite the object of the request with an object. It
// tries on copies.
func (r *applier) overwrites(object runtime.Object) bool {
	return r.objects.GetObjectConvertor().Convert(object.DeepCopyObject(), r.request.GetObject().DeepCopyObject(), nil) == nil
}

// checkKind returns an error if the JSON of a patched object has another kind than the object, or
// none. It is called for JSON that could not be decoded, to give the reason.
func checkKind(before runtime.Object, after []byte) error {
	old := before.GetObjectKind().GroupVersionKind()
	kind, err := serializer.DefaultMetaFactory.Interpret(after)
	if err != nil {
		// The kind or apiVersion is not a string, or the JSON is not an object.
		return &identityError{fmt.Sprintf("may not change apiVersion and kind from %s to something else than two strings", old), true}
	}
	if old != *kind {
		return changedKind(old, *kind, true)
	}
	return nil
}

func changedKind(before, after schema.GroupVersionKind, rejected bool) error {
	return &identityError{fmt.Sprintf("may not change apiVersion and kind from %s to %s", before, after), rejected}
}
