// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"context"
	"fmt"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storageerrors "k8s.io/apiserver/pkg/storage/errors"
	"k8s.io/apiserver/pkg/util/dryrun"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// Delete implements rest.GracefulDeleter. The first call marks the CustomResourceDefinition: it
// sets the deletion timestamp, the finalizer for the custom resources and the condition
// Terminating, and returns the marked CustomResourceDefinition and false. Later calls delete the
// CustomResourceDefinition unless it has finalizers. Delete sets the UID precondition in options if
// it is unset. The returned errors are API errors.
func (r *REST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	obj, err := r.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	crd := obj.(*apiextensions.CustomResourceDefinition)
	if options == nil {
		options = metav1.NewDeleteOptions(0)
	}
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	// Another request may delete the CustomResourceDefinition and create one of the same name
	// before this one is done.
	preconditions := options.Preconditions
	if preconditions.UID == nil {
		preconditions.UID = &crd.UID
	}
	if want := *preconditions.UID; want != crd.UID {
		return nil, false, preconditionFailed(name, "UID", want, crd.UID)
	}
	if want := preconditions.ResourceVersion; want != nil && *want != crd.ResourceVersion {
		return nil, false, preconditionFailed(name, "ResourceVersion", *want, crd.ResourceVersion)
	}
	if crd.DeletionTimestamp.IsZero() {
		marked, err := r.markDeleted(ctx, name, validate, options)
		return marked, false, err
	}
	return r.Store.Delete(ctx, name, validate, options)
}

// preconditionFailed returns the conflict of a precondition of a deletion.
func preconditionFailed(name, field string, want, got any) error {
	return apierrors.NewConflict(resource, name, fmt.Errorf("precondition failed: %[1]s in precondition: %[2]v, %[1]s in object meta: %[3]v", field, want, got))
}

// markDeleted marks the CustomResourceDefinition as Delete describes, and returns the stored
// object.
func (r *REST) markDeleted(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, error) {
	key, err := r.KeyFunc(ctx, name)
	if err != nil {
		return nil, err
	}
	mark := func(obj runtime.Object) (runtime.Object, error) {
		if err := validate(ctx, obj); err != nil {
			return nil, err
		}
		crd := part(obj)
		if crd.DeletionTimestamp.IsZero() {
			crd.DeletionTimestamp = new(metav1.Now())
		}
		if !upstream.CRDHasFinalizer(crd, upstream.CustomResourceCleanupFinalizer) {
			crd.Finalizers = append(crd.Finalizers, upstream.CustomResourceCleanupFinalizer)
		}
		upstream.SetCRDCondition(crd, upstream.CustomResourceDefinitionCondition{
			Type:    upstream.Terminating,
			Status:  upstream.ConditionTrue,
			Reason:  "InstanceDeletionPending",
			Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
		})
		return obj, nil
	}
	marked := r.NewFunc()
	preconditions := storage.Preconditions{UID: options.Preconditions.UID, ResourceVersion: options.Preconditions.ResourceVersion}
	if err := r.Storage.GuaranteedUpdate(ctx, key, marked, false, &preconditions, storage.SimpleUpdate(mark), dryrun.IsDryRun(options.DryRun), nil); err != nil {
		return nil, deletionError(err, name)
	}
	return marked, nil
}

// deletionError returns the API error for an error of the storage or of admission.
func deletionError(err error, name string) error {
	err = storageerrors.InterpretGetError(err, resource, name)
	err = storageerrors.InterpretUpdateError(err, resource, name)
	if _, ok := err.(*apierrors.StatusError); !ok {
		return apierrors.NewInternalError(err)
	}
	return err
}
