// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
)

// DeletionAdmission returns the admission chain for requests that Deleter serves. It converts an
// object when a plugin reads it. If the object does not convert, it refuses the deletion: a plugin
// cannot decide about an object that it cannot read.
func (v *Version) DeletionAdmission(chain admission.Interface) admission.Interface {
	if v.view == nil || chain == nil {
		return chain
	}
	return deletionAdmission{chain, v.view}
}

type deletionAdmission struct {
	admission.Interface
	view *versionedstorage.VersionStorage
}

// Admit implements admission.MutationInterface.
func (d deletionAdmission) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	chain, ok := d.Interface.(admission.MutationInterface)
	if !ok {
		return nil
	}
	deletion := &deletion{Attributes: a, view: d.view}
	return deletion.result(chain.Admit(ctx, deletion, o))
}

// Validate implements admission.ValidationInterface.
func (d deletionAdmission) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	chain, ok := d.Interface.(admission.ValidationInterface)
	if !ok {
		return nil
	}
	deletion := &deletion{Attributes: a, view: d.view}
	return deletion.result(chain.Validate(ctx, deletion, o))
}

// deletion has the old object in the version of the request. It is safe for concurrent use.
type deletion struct {
	admission.Attributes
	view      *versionedstorage.VersionStorage
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
		converted, err := d.view.Convert(u)
		if err != nil {
			d.err = err
			converted = &unstructured.Unstructured{Object: map[string]any{"metadata": u.DeepCopy().Object["metadata"]}}
			converted.SetGroupVersionKind(d.GetKind())
		}
		d.converted = converted
	})
	return d.converted
}

// result returns the error of the chain, or that of a conversion that a plugin needed.
func (d *deletion) result(err error) error {
	// A conversion that has not begun is not needed any more.
	d.convert.Do(func() {})
	if err != nil {
		return err
	}
	return d.err
}
