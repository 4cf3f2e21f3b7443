// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
)

// A Request is an API request to admit. Admit does not change it.
type Request struct {
	// Operation is Create, Update, Delete or Connect.
	Operation admission.Operation
	// Resource is the resource in the version of the request. If it is empty, it is the resource of
	// the kind of Object, or else of OldObject. Requests for a subresource whose kind is not that
	// of the resource, such as "scale", must set Resource or OldObject.
	Resource    schema.GroupVersionResource
	Subresource string
	// Namespace and Name default to those of Object, or else of OldObject. A namespaced object
	// without a namespace is in "default".
	Namespace, Name string
	// Object is the body of a Create or Update request, or the options of a Connect request, such
	// as PodExecOptions.
	Object *unstructured.Unstructured
	// OldObject is the object that Update changes, Delete deletes, or whose subresource the request
	// is for. It replaces the object of that name in the cluster, for this request. It may be nil
	// if the cluster has the object.
	OldObject *unstructured.Unstructured
	// Options are the fields of CreateOptions, UpdateOptions or DeleteOptions. May be nil.
	Options map[string]any
	DryRun  bool
	// Time is when the server receives the request, which expressions read as request.time. Zero
	// means the ReceivedTimestamp in the context of Admit, or else now.
	Time time.Time
	// UserInfo is the user who sends the request. Nil means the administrator "kubernetes-admin" of
	// group "system:masters".
	UserInfo user.Info
}
