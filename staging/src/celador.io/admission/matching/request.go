// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// NamespaceGetter looks namespaces up. Implementations are safe for concurrent use.
type NamespaceGetter interface {
	// GetNamespace returns a shared object, which must not be changed, or a NotFound API error if
	// the namespace does not exist.
	GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error)
}

// Request is an admission request to match with criteria. It looks its namespace and equivalent
// resources up once for all criteria. Not safe for concurrent use.
type Request struct {
	admission.Attributes

	ctx        context.Context
	done       <-chan struct{}
	objects    admission.ObjectInterfaces
	namespaces NamespaceGetter

	namespace   lookup[*corev1.Namespace]
	nsLabels    lookup[labels.Set]
	equivalents lookup[[]schema.GroupVersionResource]
}

// lookup caches the result of a lookup.
type lookup[T any] struct {
	done  bool
	value T
	err   error
}

func (l *lookup[T]) get(find func() (T, error)) (T, error) {
	if !l.done {
		l.value, l.err = find()
		l.done = true
	}
	return l.value, l.err
}

// NewRequest returns the request with the given attributes. It uses objects and namespaces only
// when a rule or selector requires it. namespaces may be nil; lookups of namespaces then fail.
func NewRequest(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, namespaces NamespaceGetter) *Request {
	return &Request{Attributes: a, ctx: ctx, done: ctx.Done(), objects: objects, namespaces: namespaces}
}

// original returns the resource and kind of the client's request. They differ from those of r if
// the Attributes are Converted.
func (r *Request) original() Target {
	a := Original(r.Attributes)
	return Target{a.GetResource(), a.GetKind()}
}

// own returns the resource and kind with which rules are compared first: those of the request's
// objects or, if exact is set, those of the client's request. exact stands for matchPolicy Exact,
// with which rules match no equivalent resources.
func (r *Request) own(exact bool) Target {
	if exact {
		return r.original()
	}
	return Target{r.GetResource(), r.GetKind()}
}

// Namespace returns the namespace of the object, or nil for cluster-scoped objects, including
// namespaces.
func (r *Request) Namespace() (*corev1.Namespace, error) {
	name := r.GetNamespace()
	// A request for a namespace has the name of the namespace in its namespace field.
	if name == "" || r.GetKind() == corev1.SchemeGroupVersion.WithKind("Namespace") {
		return nil, nil
	}
	return r.lookupNamespace(name)
}

func (r *Request) lookupNamespace(name string) (*corev1.Namespace, error) {
	return r.namespace.get(func() (*corev1.Namespace, error) {
		if r.namespaces == nil {
			return nil, fmt.Errorf("namespace %q is unknown, because the engine has no Namespaces", name)
		}
		return r.namespaces.GetNamespace(r.ctx, name)
	})
}

// hasNamespaceLabels reports whether namespace selectors apply to the request.
func (r *Request) hasNamespaceLabels() bool {
	return r.GetNamespace() != "" || r.GetResource().Resource == "namespaces"
}

// namespaceLabels returns the labels to which namespace selectors apply.
func (r *Request) namespaceLabels() (labels.Set, error) {
	return r.nsLabels.get(func() (labels.Set, error) {
		if r.writesNamespace() {
			// A request that creates or updates a namespace may set labels that the stored
			// namespace does not have yet. Selectors apply to the labels in the request.
			accessor, err := meta.Accessor(r.GetObject())
			if err != nil {
				return nil, apierrors.NewInternalError(err)
			}
			return accessor.GetLabels(), nil
		}
		namespace, err := r.lookupNamespace(r.GetNamespace())
		if err == nil {
			return namespace.Labels, nil
		}
		if status, ok := err.(apierrors.APIStatus); ok && apierrors.IsNotFound(err) {
			return nil, &apierrors.StatusError{ErrStatus: status.Status()}
		}
		return nil, apierrors.NewInternalError(err)
	})
}

func (r *Request) writesNamespace() bool {
	if r.GetResource().Resource != "namespaces" || r.GetSubresource() != "" {
		return false
	}
	return r.GetOperation() == admission.Create || r.GetOperation() == admission.Update
}

// equivalentResources returns the resources through which the server serves the same objects. They
// include the resource of the client's request, and the request's own if the server knows it. The
// result is shared and must not be changed.
func (r *Request) equivalentResources() []schema.GroupVersionResource {
	resources, _ := r.equivalents.get(func() ([]schema.GroupVersionResource, error) {
		original := r.original().Resource
		resources := r.objects.GetEquivalentResourceMapper().EquivalentResourcesFor(original, r.GetSubresource())
		if original != r.GetResource() {
			resources = append([]schema.GroupVersionResource{original}, resources...)
		}
		return resources, nil
	})
	return resources
}

func (r *Request) kindFor(resource schema.GroupVersionResource) schema.GroupVersionKind {
	if original := r.original(); resource == original.Resource {
		return original.Kind
	}
	return r.objects.GetEquivalentResourceMapper().KindFor(resource, r.GetSubresource())
}

// Interrupted returns the timeout error (504) that ends a request whose context is done, and
// nil before that. done is the channel of the context.
//
// failurePolicy does not apply to this error. An interrupted expression fails like any other, so
// failurePolicy Ignore would admit the request although its policies were not evaluated.
func Interrupted(done <-chan struct{}) *apierrors.StatusError {
	// Unlike ctx.Err, this takes no lock.
	select {
	case <-done:
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	default:
		return nil
	}
}

// Interrupted returns the error that ends the request once its context is done, and nil before
// that. It takes no lock, so it may be called between any two evaluations.
func (r *Request) Interrupted() *apierrors.StatusError { return Interrupted(r.done) }
