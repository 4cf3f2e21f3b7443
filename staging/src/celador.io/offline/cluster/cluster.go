// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
)

// A Cluster holds objects, policies among them, and answers requests. It is safe for concurrent
// use.
type Cluster struct {
	*Base
	// objects are the objects of the cluster. They do not change once requests are evaluated.
	objects  *layer
	policies policySet
	// access answers the checks of expressions and access reviews, by the RBAC roles and role
	// bindings among the objects.
	access Authorizer
	// customResources are the custom resources of the CustomResourceDefinitions among the objects.
	customResources map[schema.GroupResource]*customResource
}

// New returns a cluster with the given backend and objects. See Base.New.
func New(ctx context.Context, backend Backend, objects ...*unstructured.Unstructured) (*Cluster, error) {
	return NewBase(backend).New(ctx, objects...)
}

// New returns a cluster with the given objects: policies, bindings, params, namespaces and others.
// It creates each object as a server would, so objects are defaulted and validated, but subject to
// no policy. A namespace that is not among the objects has only the label
// kubernetes.io/metadata.name. If objects are invalid, New returns an error that joins an
// *ObjectError for each of them. The caller keeps ownership of the objects.
func (b *Base) New(ctx context.Context, objects ...*unstructured.Unstructured) (*Cluster, error) {
	return b.Restore(ctx, nil, objects)
}

// Restore returns a cluster with two sets of objects. Those in stored are as a server has stored
// them, for example read from it by a client, and are not validated. Those in added are created as
// by New, and take the place of stored objects with the same type, namespace and name. If objects
// are invalid, Restore returns an error that joins an *ObjectError for each added one. The caller
// keeps ownership of the objects.
func (b *Base) Restore(ctx context.Context, stored, added []*unstructured.Unstructured) (*Cluster, error) {
	c := &Cluster{Base: b, customResources: map[schema.GroupResource]*customResource{}}
	c.objects = &layer{cluster: c, objects: map[string]runtime.Object{}}
	c.access = b.backend.NewAuthorizer(ObjectReader{c})
	var errs []error
	replaced := map[Identity]bool{}
	for _, object := range added {
		replaced[Identify(object)] = true
	}
	for _, definitions := range []bool{true, false} {
		for _, object := range stored {
			if IsCRD(object) != definitions || replaced[Identify(object)] {
				continue
			}
			if err := c.accept(ctx, object, c.restore); err != nil {
				errs = append(errs, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err))
			}
		}
		for i, object := range added {
			if IsCRD(object) != definitions {
				continue
			}
			if err := c.accept(ctx, object, c.add); err != nil {
				errs = append(errs, &ObjectError{Index: i, Err: err})
			}
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	policies, err := c.compile(nil)
	if err != nil {
		return nil, err
	}
	c.policies = policies
	return c, nil
}

// Store adds an object as a server has stored it, without validation, as Restore adds its stored
// objects. It replaces an object with the same type, namespace and name. It must not be called
// after the first request.
func (c *Cluster) Store(ctx context.Context, object *unstructured.Unstructured) error {
	return c.restore(ctx, object)
}

// An Identity identifies an object in a cluster.
type Identity struct {
	Kind            schema.GroupKind
	Namespace, Name string
}

// Identify returns the identity of an object. An object without a namespace counts as one in the
// namespace default, which is also right for cluster-scoped types, since they have no others.
func Identify(object *unstructured.Unstructured) Identity {
	namespace := cmp.Or(object.GetNamespace(), corev1.NamespaceDefault)
	return Identity{object.GroupVersionKind().GroupKind(), namespace, object.GetName()}
}

// accept puts an object into the cluster with put, which is add or restore. If the object is a
// CustomResourceDefinition, the cluster serves its custom resources afterwards.
func (c *Cluster) accept(ctx context.Context, object *unstructured.Unstructured, put func(context.Context, *unstructured.Unstructured) error) error {
	if err := put(ctx, object); err != nil || !IsCRD(object) {
		return err
	}
	return c.define(ctx, object)
}

// ObjectError is the error of an object that a cluster does not accept.
type ObjectError struct {
	// Index is the position of the object in the arguments of New, or among the added ones of
	// Restore.
	Index int
	// Err is the error of the API, usually an *apierrors.StatusError with a cause for each field.
	Err error
}

func (e *ObjectError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the API.
func (e *ObjectError) Unwrap() error { return e.Err }

// administrator is the user of requests without one.
var administrator = &user.DefaultInfo{Name: "kubernetes-admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}

// add validates an object as a create request would, and stores it with its status.
func (c *Cluster) add(ctx context.Context, object *unstructured.Unstructured) error {
	r, err := c.resourceOf(object.GroupVersionKind())
	if err != nil {
		return err
	}
	namespace := namespaceOf(r, object)
	scratch := withLayer(ctx, newLayer(c.objects))
	sent := object.DeepCopy()
	sent.SetResourceVersion("") // which stored objects have, but new ones must not
	if _, _, err := c.serve(scratch, newCreate(r, namespace, sent)); err != nil {
		return err
	}
	return c.store(c.objects, r, namespace, object)
}

// restore stores an object as it is.
func (c *Cluster) restore(_ context.Context, object *unstructured.Unstructured) error {
	r, err := c.resourceOf(object.GroupVersionKind())
	if err != nil {
		return err
	}
	return c.store(c.objects, r, namespaceOf(r, object), object)
}

// store puts an object into a layer, with defaults and the system fields that every stored object
// has.
func (c *Cluster) store(l *layer, r *resource, namespace string, object *unstructured.Unstructured) error {
	data, err := json.Marshal(object.Object)
	if err != nil {
		return err
	}
	decoded, err := r.decode(data)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	m, err := meta.Accessor(decoded)
	if err != nil {
		return err
	}
	if m.GetName() == "" {
		return apierrors.NewBadRequest("metadata.name is required")
	}
	if r.namespaced {
		m.SetNamespace(namespace)
	}
	setSystemFields(m)
	if m.GetResourceVersion() == "" {
		m.SetResourceVersion("1")
	}
	stored, err := r.encode(decoded)
	if err != nil {
		return err
	}
	l.put(r.key(m.GetNamespace(), m.GetName()), stored)
	return nil
}

// setSystemFields sets what a server sets before policies see a new object, unless it is set.
func setSystemFields(m metav1.Object) {
	if m.GetUID() == "" {
		m.SetUID(firstUID)
	}
	if created := m.GetCreationTimestamp(); created.IsZero() {
		m.SetCreationTimestamp(metav1.Now())
	}
}

// firstUID is the UID of stored objects whose manifests have none.
const firstUID types.UID = "00000000-0000-0000-0000-000000000001"

// namespaceOf returns the namespace of an object: that in its manifest, "default" if the manifest
// has none, and "" if the resource is cluster-scoped.
func namespaceOf(r *resource, object *unstructured.Unstructured) string {
	if !r.namespaced {
		return ""
	}
	return cmp.Or(object.GetNamespace(), corev1.NamespaceDefault)
}
