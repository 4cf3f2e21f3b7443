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

// checkIdentity complains about a mutation that makes an object another one, which would
// be written where the request was not authorized to. A name may be given to an object that
// has none yet.
func checkIdentity(before, after runtime.Object) error {
	if err := sameKind(before, after.GetObjectKind().GroupVersionKind()); err != nil {
		return err
	}
	old, err := meta.Accessor(before)
	if err != nil {
		return nil // has no name at all, as the options of CONNECT requests
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

// checkKind complains about text that cannot be decoded because it is that of another kind.
func checkKind(before runtime.Object, after []byte) error {
	kind, err := serializer.DefaultMetaFactory.Interpret(after)
	if err != nil {
		return nil // has other faults
	}
	return sameKind(before, *kind)
}

func sameKind(before runtime.Object, after schema.GroupVersionKind) error {
	if before := before.GetObjectKind().GroupVersionKind(); before != after {
		return fmt.Errorf("may not change apiVersion and kind from %s to %s", before, after)
	}
	return nil
}
