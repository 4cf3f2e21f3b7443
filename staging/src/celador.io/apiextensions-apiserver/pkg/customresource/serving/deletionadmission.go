// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
)

// DeletionAdmission returns the admission chain for requests that Deleter serves. It converts an
// object when a plugin reads it. If the object does not convert, it refuses the deletion: a plugin
// cannot decide about an object that it cannot read.
func (v *VersionEndpoints) DeletionAdmission(chain admission.Interface) admission.Interface {
	if v.versioned == nil || chain == nil {
		return chain
	}
	return interceptedAdmission{chain, func(a admission.Attributes, decide func(admission.Attributes) error) error {
		deletion := &deletion{Attributes: a, versioned: v.versioned}
		if err := decide(deletion); err != nil {
			return err
		}
		// All plugins have decided. If none has read the old object, a later call of GetOldObject
		// must not convert it any more.
		deletion.convert.Do(func() {})
		return deletion.err
	}}
}

// A deletion is the admission attributes of a deletion whose old object is converted to the version
// of the request when it is read. It is safe for concurrent use.
type deletion struct {
	admission.Attributes
	versioned *versionedstorage.VersionStorage
	convert   sync.Once
	converted runtime.Object
	err       error
}

// GetOldObject implements admission.Attributes. It returns an object with nothing but its metadata
// if the object does not convert.
func (d *deletion) GetOldObject() runtime.Object {
	d.convert.Do(func() {
		old := d.Attributes.GetOldObject()
		u, ok := old.(*unstructured.Unstructured)
		if !ok {
			d.converted = old
			return
		}
		converted, err := d.versioned.Convert(u)
		if err != nil {
			d.err = err
			converted = &unstructured.Unstructured{Object: map[string]any{"metadata": u.DeepCopy().Object["metadata"]}}
			converted.SetGroupVersionKind(d.GetKind())
		}
		d.converted = converted
	})
	return d.converted
}
