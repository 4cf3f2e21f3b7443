// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// checkIdentity returns an error if a mutation changes the kind, name or namespace of an object. The
// request is authorized for the original ones only. A mutation may set the name of an object that
// has none.
func checkIdentity(before, after runtime.Object) error {
	if err := sameKind(before, after.GetObjectKind().GroupVersionKind()); err != nil {
		return err
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
		return fmt.Errorf("may not change metadata.name from %q to %q", old.GetName(), current.GetName())
	}
	if old.GetNamespace() != current.GetNamespace() {
		return fmt.Errorf("may not change metadata.namespace from %q to %q", old.GetNamespace(), current.GetNamespace())
	}
	return nil
}

// checkKind returns an error if the JSON of a patched object has another kind than the object before.
// It explains why the JSON cannot be decoded.
func checkKind(before runtime.Object, after []byte) error {
	kind, err := serializer.DefaultMetaFactory.Interpret(after)
	if err != nil {
		return nil // the caller returns the decoding error
	}
	return sameKind(before, *kind)
}

func sameKind(before runtime.Object, after schema.GroupVersionKind) error {
	if before := before.GetObjectKind().GroupVersionKind(); before != after {
		return fmt.Errorf("may not change apiVersion and kind from %s to %s", before, after)
	}
	return nil
}
