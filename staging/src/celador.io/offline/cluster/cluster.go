// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Cluster holds objects, policies among them, and reviews requests. It is safe for concurrent use.
type Cluster struct{}

// New returns a cluster with the given objects: policies, bindings, params, namespaces and others. It creates each object as a server would, so
// objects are defaulted and validated. Namespaces need not exist; those that are not among the objects
// have only the label kubernetes.io/metadata.name. If objects are invalid, New returns an error that joins an
// *ObjectError for each of them. The caller keeps ownership of the objects.
func New(ctx context.Context, types Types, objects ...*unstructured.Unstructured) (*Cluster, error) {
	return nil, errors.New("not implemented")
}

// ObjectError is the error of an object that a cluster does not accept.
type ObjectError struct {
	// Index is the position of the object in the arguments of New.
	Index int
	// Err is the error of the API, usually an *apierrors.StatusError with a cause for each field.
	Err error
}

func (e *ObjectError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the API.
func (e *ObjectError) Unwrap() error { return e.Err }

// Admit returns the review of a request. It does not change the cluster. It returns an error if the request
// is not one that a client can send, such as one for an unknown resource. An object that the API rejects is part of
// the review.
func (c *Cluster) Admit(ctx context.Context, request *Request) (*Review, error) {
	return nil, errors.New("not implemented")
}
