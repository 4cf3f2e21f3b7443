// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// A Replacement describes the objects that Replace writes, and those that it replaces.
type Replacement struct {
	// Manager is the field manager of the new objects.
	Manager string
	// Kinds are the kinds of the objects, old and new. The cluster must have them.
	Kinds []schema.GroupVersionKind
	// Labels is a label selector that matches the old objects, so that they are found.
	Labels string
	// Namespace is the only namespace whose objects are replaced. Empty means all, and also objects
	// without a namespace.
	Namespace string
}

// Replace writes objects by server-side apply. Then it deletes the old objects that the replacement
// describes and that are not among the new ones. It calls done after each object, with what it did:
// "serverside-applied" or "deleted".
func (c *Client) Replace(ctx context.Context, replacement Replacement, objects []*unstructured.Unstructured, done func(object *unstructured.Unstructured, what string)) error {
	resources := map[schema.GroupVersionKind]*metav1.APIResource{}
	for _, kind := range replacement.Kinds {
		r, err := c.resourceOf(kind)
		if err != nil {
			return err
		}
		if r == nil {
			return fmt.Errorf("the cluster has no kind %s of %s: install its CustomResourceDefinition", kind.Kind, kind.GroupVersion())
		}
		resources[kind] = r
	}
	client := func(kind schema.GroupVersionKind, namespace string) dynamic.ResourceInterface {
		return c.objects.Resource(kind.GroupVersion().WithResource(resources[kind].Name)).Namespace(namespace)
	}
	type identity struct {
		kind            schema.GroupVersionKind
		namespace, name string
	}
	applied := map[identity]bool{}
	for _, object := range objects {
		kind := object.GroupVersionKind()
		_, err := client(kind, object.GetNamespace()).Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: replacement.Manager, Force: true})
		if err != nil {
			return named(resources[kind].Name, err)
		}
		applied[identity{kind, object.GetNamespace(), object.GetName()}] = true
		done(object, "serverside-applied")
	}
	for kind, r := range resources {
		if replacement.Namespace != "" && !r.Namespaced {
			continue
		}
		for object, err := range list(ctx, client(kind, replacement.Namespace), metav1.ListOptions{LabelSelector: replacement.Labels}) {
			if err != nil {
				return named(r.Name, err)
			}
			if applied[identity{kind, object.GetNamespace(), object.GetName()}] {
				continue
			}
			err := client(kind, object.GetNamespace()).Delete(ctx, object.GetName(), metav1.DeleteOptions{})
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return named(r.Name, err)
			}
			done(object, "deleted")
		}
	}
	return nil
}
