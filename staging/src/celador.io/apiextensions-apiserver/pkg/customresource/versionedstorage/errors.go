// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
)

func errNotUnstructured(object runtime.Object) error {
	return fmt.Errorf("a storage of custom resources cannot read or write a %T", object)
}

// maxUnreadable is how many objects an error names, as many as in Kubernetes.
const maxUnreadable = 100

// unreadable collects the objects of a list that do not convert. Its error is that of Kubernetes
// for a list with corrupt objects (https://kep.k8s.io/3926).
type unreadable struct {
	resource schema.GroupResource
	errors   []error
	keys     []string
}

// add adds an object that does not convert. It returns false if an error cannot name more of them.
func (u *unreadable) add(key string, err error) bool {
	u.errors, u.keys = append(u.errors, storage.NewCorruptObjError(key, err)), append(u.keys, key)
	return len(u.errors) < maxUnreadable
}

// status returns the API error. An object must have been added.
func (u *unreadable) status() *apierrors.StatusError {
	var causes []metav1.StatusCause
	for i, err := range u.errors {
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: u.keys[i], Message: err.Error()})
	}
	message := fmt.Sprintf("failed to read one or more %s from the storage: %v", u.resource, u.errors[0])
	if len(u.errors) > 1 {
		message = fmt.Sprintf("%s (and %d more)", message, len(u.errors)-1)
	}
	if len(u.errors) == maxUnreadable {
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError,
		Details: &metav1.StatusDetails{Group: u.resource.Group, Kind: u.resource.Resource, Name: "list", Causes: causes},
		Message: message,
	}}
}
