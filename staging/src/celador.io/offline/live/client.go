// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package live reads the objects of a running cluster page by page.
package live

import (
	"context"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	v1 "celador.io/api/admissionregistration/v1"
)

// A Client reads the objects of a running cluster. It is safe for concurrent use.
type Client struct {
	objects   dynamic.Interface
	discovery discovery.DiscoveryInterface
}

// New returns a client of the cluster that the configuration names. It sends no request. Warnings
// of the cluster are dropped: they are about requests that no user has written.
func New(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	if config.QPS == 0 {
		// These are the limits of kubectl. The cluster itself limits requests, too.
		config.QPS, config.Burst = 50, 300
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	resources, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Client{objects, resources}, nil
}

var (
	policies   = v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies")
	bindings   = v1.SchemeGroupVersion.WithResource("validatingadmissionpolicybindings")
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
	crds       = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// Policies returns the validating policies of the cluster and their bindings. If the polyfill is
// installed, they include its policies and bindings, with the apiVersion of the native kinds. A
// policy or binding that both API groups have is returned once, and is an error if the two have
// different specs.
func (c *Client) Policies(ctx context.Context) ([]*unstructured.Unstructured, error) {
	found, err := c.read(ctx, policies, bindings)
	if err != nil {
		return nil, err
	}
	const kind = "ValidatingAdmissionPolicy"
	polyfill, err := c.Params(ctx, v1.PolyfillGroupVersion.WithKind(kind), v1.PolyfillGroupVersion.WithKind(kind+"Binding"))
	if err != nil {
		return nil, err
	}
	native := found
	for _, object := range polyfill {
		object.SetAPIVersion(v1.SchemeGroupVersion.String())
		same := slices.IndexFunc(native, func(other *unstructured.Unstructured) bool {
			return other.GetKind() == object.GetKind() && other.GetName() == object.GetName()
		})
		if same < 0 {
			found = append(found, object)
		} else if !equality.Semantic.DeepEqual(native[same].Object["spec"], object.Object["spec"]) {
			return nil, fmt.Errorf("%s %s is in %s and in %s, with different specs: audit the policies of one group with --filename", object.GetKind(), object.GetName(), v1.GroupName, v1.PolyfillGroupVersion.Group)
		}
	}
	return found, nil
}

// Namespaces returns the namespaces of the cluster.
func (c *Client) Namespaces(ctx context.Context) ([]*unstructured.Unstructured, error) {
	return c.read(ctx, namespaces)
}

// CRDs returns those CustomResourceDefinitions of the cluster for which keep returns true.
func (c *Client) CRDs(ctx context.Context, keep func(group, kind, plural string) bool) ([]*unstructured.Unstructured, error) {
	definitions, err := c.read(ctx, crds)
	return slices.DeleteFunc(definitions, func(d *unstructured.Unstructured) bool {
		field := func(path ...string) string {
			value, _, _ := unstructured.NestedString(d.Object, append([]string{"spec"}, path...)...)
			return value
		}
		return !keep(field("group"), field("names", "kind"), field("names", "plural"))
	}), err
}

// read returns all objects of the resources.
func (c *Client) read(ctx context.Context, resources ...schema.GroupVersionResource) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, resource := range resources {
		for object, err := range list(ctx, c.objects.Resource(resource), metav1.ListOptions{}) {
			if err != nil {
				return nil, named(resource.GroupResource().String(), err)
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// Params returns the objects of the kinds. A kind that the cluster does not have has none.
func (c *Client) Params(ctx context.Context, kinds ...schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	var resources []schema.GroupVersionResource
	for _, kind := range kinds {
		r, err := c.resourceOf(kind)
		if err != nil {
			return nil, err
		}
		if r != nil {
			resources = append(resources, kind.GroupVersion().WithResource(r.Name))
		}
	}
	return c.read(ctx, resources...)
}

// LookedUp returns the objects of the kinds, and the errors of the kinds that the cluster does not
// serve, or whose objects cannot be listed.
func (c *Client) LookedUp(ctx context.Context, kinds ...schema.GroupVersionKind) (found []*unstructured.Unstructured, failed map[schema.GroupVersionKind]error) {
	failed = map[schema.GroupVersionKind]error{}
	for _, kind := range kinds {
		r, err := c.resourceOf(kind)
		if err == nil && r == nil {
			err = fmt.Errorf("the cluster does not serve kind %s of %s", kind.Kind, kind.GroupVersion())
		}
		var objects []*unstructured.Unstructured
		if err == nil {
			objects, err = c.read(ctx, kind.GroupVersion().WithResource(r.Name))
		}
		if err != nil {
			failed[kind] = err
		}
		found = append(found, objects...)
	}
	return found, failed
}

// resourceOf returns the resource of a kind, or nil if the cluster does not have the kind.
func (c *Client) resourceOf(kind schema.GroupVersionKind) (*metav1.APIResource, error) {
	served, err := c.discovery.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, named(kind.GroupVersion().String(), err)
	}
	for i := range served.APIResources {
		if r := &served.APIResources[i]; r.Kind == kind.Kind && stored(r) {
			return r, nil
		}
	}
	return nil, nil
}

// stored reports whether clients can create and list objects of the resource. Subresources cannot
// be listed.
func stored(r *metav1.APIResource) bool {
	return slices.Contains(r.Verbs, "create") && slices.Contains(r.Verbs, "list")
}

// A Filter selects objects.
type Filter struct {
	// Resource reports whether to read the objects of a resource. If discovery of a group version
	// fails, so that its resources are not known, Resource is called with the group alone. If it
	// returns true, the failure is reported as a ResourceError, and otherwise it is ignored.
	Resource func(schema.GroupResource) bool
	// Namespace is the only namespace to read. Objects without a namespace are then left out. Empty
	// means all.
	Namespace string
	// Labels is a label selector. Empty selects all.
	Labels string
}

// A ResourceError is the error of a resource whose objects cannot be read. Others may be readable.
type ResourceError struct {
	// Resource has no name if the resources of its group version are not known.
	Resource schema.GroupVersionResource
	Err      error
}

func (e *ResourceError) Error() string {
	return fmt.Sprintf("%s: %v", e.Resource.GroupResource(), e.Err)
}

// Unwrap returns the error of the API.
func (e *ResourceError) Unwrap() error { return e.Err }

// Objects yields the selected objects, one resource after the other, each in the version that the
// cluster prefers. It holds one page of a list at a time. It yields a *ResourceError for each
// resource that it cannot read, such as those of an aggregated API server that does not answer, and
// goes on with the next.
func (c *Client) Objects(ctx context.Context, filter Filter) iter.Seq2[*unstructured.Unstructured, error] {
	return func(yield func(*unstructured.Unstructured, error) bool) {
		resources, unknown, err := c.resources(filter)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range unknown {
			if !yield(nil, e) {
				return
			}
		}
		for _, resource := range resources {
			objects := list(ctx, c.objects.Resource(resource).Namespace(filter.Namespace), metav1.ListOptions{LabelSelector: filter.Labels})
			for object, err := range objects {
				if err != nil {
					err = &ResourceError{resource, err}
				}
				if !yield(object, err) {
					return
				}
			}
		}
	}
}

// resources returns the resources with objects that are selected, sorted, and an error for each
// group version whose resources are not known.
func (c *Client) resources(filter Filter) ([]schema.GroupVersionResource, []*ResourceError, error) {
	lists, err := c.discovery.ServerPreferredResources()
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return nil, nil, fmt.Errorf("discovery: %w", err)
	}
	var unknown []*ResourceError
	for version, err := range failed {
		if filter.Resource(schema.GroupResource{Group: version.Group}) {
			unknown = append(unknown, &ResourceError{version.WithResource(""), err})
		}
	}
	var resources []schema.GroupVersionResource
	for _, l := range lists {
		version, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, nil, fmt.Errorf("discovery: %w", err)
		}
		for _, r := range l.APIResources {
			resource := version.WithResource(r.Name)
			if stored(&r) && (r.Namespaced || filter.Namespace == "") && filter.Resource(resource.GroupResource()) {
				resources = append(resources, resource)
			}
		}
	}
	slices.SortFunc(resources, func(a, b schema.GroupVersionResource) int {
		return slices.Compare([]string{a.Group, a.Resource}, []string{b.Group, b.Resource})
	})
	return resources, unknown, nil
}
