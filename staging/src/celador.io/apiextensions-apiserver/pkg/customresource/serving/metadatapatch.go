// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"maps"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"

	"celador.io/apiextensions-apiserver/pkg/registry/customresource"
)

// MetadataPatch returns the storage and the admission chain for one patch whose response contains
// nothing but metadata, as patches of the garbage collector do. onlyMetadata reports whether the
// patch changes only metadata; it is called after the patch has been read.
//
// Such a patch succeeds even if the object does not convert to the version of the request or to the
// storage version: the metadata in the version of the request is patched, and the object stays in
// the version in which it is stored. All other objects are patched as usual, so that admission
// reads them and they are rewritten in the storage version.
func (v *VersionEndpoints) MetadataPatch(chain admission.Interface, onlyMetadata func() bool) (rest.Patcher, admission.Interface) {
	if v.versioned == nil {
		return v.Storage.CustomResource, chain
	}
	patch := &metadataPatch{Patcher: v.Storage.CustomResource, version: v, onlyMetadata: onlyMetadata}
	if chain == nil {
		return patch, nil
	}
	return patch, interceptedAdmission{chain, patch.admit}
}

// A metadataPatch is the storage of one patch. It is not safe for concurrent use.
type metadataPatch struct {
	rest.Patcher
	version      *VersionEndpoints
	onlyMetadata func() bool
	// cause is the error with which patching the object as usual has failed.
	cause error
	// unreadable is set while only the metadata of the object is known in the version of the
	// request, because the object does not convert.
	unreadable bool
}

// Update implements rest.Updater.
func (p *metadataPatch) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	p.unreadable = false
	out, created, err := p.Patcher.Update(ctx, name, info, createValidation, updateValidation, forceAllowCreate, options)
	// These are the errors for an object that does not convert: an internal error if it cannot be
	// read in the version of the request, and an invalid one if it cannot be rewritten.
	if !apierrors.IsInternalError(err) && !apierrors.IsInvalid(err) || !p.onlyMetadata() {
		return out, created, err
	}
	p.cause = err
	out, _, err = customresource.ForMetadata(p.version.asStored.Store).Update(ctx, name, patchedMetadata{info, p}, createValidation, p.validation(updateValidation), false, options)
	if err != nil {
		return nil, false, err
	}
	out, err = p.version.versioned.ConvertMetadata(out.(*unstructured.Unstructured))
	return out, false, err
}

// validation returns a validation function for objects of the shared storage. It converts them to
// the version of the request, or only their metadata while they do not convert, and calls validate.
func (p *metadataPatch) validation(validate rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	convert := func(object runtime.Object) (*unstructured.Unstructured, error) {
		if p.unreadable {
			return p.version.versioned.ConvertMetadata(object.(*unstructured.Unstructured))
		}
		return p.version.versioned.Convert(object.(*unstructured.Unstructured))
	}
	return func(ctx context.Context, object, old runtime.Object) error {
		patched, err := convert(object)
		if err != nil {
			return err
		}
		before, err := convert(old)
		if err != nil {
			return err
		}
		return validate(ctx, patched, before)
	}
}

// patchedMetadata applies a patch to the metadata of an object of the shared storage. The object
// stays in the version in which it is stored.
type patchedMetadata struct {
	rest.UpdatedObjectInfo
	patch *metadataPatch
}

// UpdatedObject implements rest.UpdatedObjectInfo. If the object can be patched as usual after all,
// or if its metadata alone cannot be patched, it returns the error with which the usual patch has
// failed.
func (m patchedMetadata) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	p, versioned := m.patch, m.patch.version.versioned
	stored := old.(*unstructured.Unstructured)
	current, err := versioned.Convert(stored)
	p.unreadable = err != nil
	if p.unreadable {
		current, err = versioned.ConvertMetadata(stored)
	}
	if err != nil || !p.unreadable && p.version.rewrites(ctx, current) {
		return nil, p.cause
	}
	// The patched object gets defaults when it is decoded. Without the same defaults in current,
	// they would count as changes.
	p.version.Scope.Defaulter.Default(current)
	updated, err := m.UpdatedObjectInfo.UpdatedObject(ctx, current)
	if err != nil {
		return nil, err
	}
	patched, ok := updated.(*unstructured.Unstructured)
	if !ok || !equality.Semantic.DeepEqual(withoutMetadata(patched), withoutMetadata(current)) {
		return nil, p.cause
	}
	out := stored.DeepCopy()
	out.Object["metadata"] = patched.Object["metadata"]
	if versioned.ChangesMetadata(stored) {
		// Conversion rules may write labels and annotations, so those to store can only be found by
		// a conversion of the whole object. The patch must leave them as they are.
		if !maps.Equal(patched.GetLabels(), current.GetLabels()) || !maps.Equal(patched.GetAnnotations(), current.GetAnnotations()) {
			return nil, p.cause
		}
		out.SetLabels(stored.GetLabels())
		out.SetAnnotations(stored.GetAnnotations())
	}
	return out, nil
}

// rewrites reports whether an object in the version of the request can be stored.
func (v *VersionEndpoints) rewrites(ctx context.Context, object *unstructured.Unstructured) bool {
	return v.check == nil || len(v.check.Validate(ctx, object.Object, object.Object)) == 0
}

func withoutMetadata(object *unstructured.Unstructured) map[string]any {
	content := maps.Clone(object.Object)
	delete(content, "metadata")
	return content
}

// admit runs the admission chain. If only the metadata of the object is known and a plugin reads
// the object, admit refuses the patch, because the plugin could not decide about it.
func (p *metadataPatch) admit(a admission.Attributes, decide func(admission.Attributes) error) error {
	if !p.unreadable {
		return decide(a)
	}
	observed := &observedAttributes{Attributes: a}
	err := decide(observed)
	if observed.read.Load() {
		return p.cause
	}
	return err
}

// observedAttributes notice whether objects are read. They are safe for concurrent use.
type observedAttributes struct {
	admission.Attributes
	read atomic.Bool
}

// GetObject implements admission.Attributes.
func (o *observedAttributes) GetObject() runtime.Object {
	o.read.Store(true)
	return o.Attributes.GetObject()
}

// GetOldObject implements admission.Attributes.
func (o *observedAttributes) GetOldObject() runtime.Object {
	o.read.Store(true)
	return o.Attributes.GetOldObject()
}
