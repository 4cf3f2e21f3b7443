// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package equivalents finds the resources of a cluster that serve the same objects, such as the
// versions of a custom resource. With matchPolicy Equivalent, a policy for one of them also matches
// requests for the others. An API server knows its own resources. The polyfill is another process,
// so it reads them from CustomResourceDefinitions and discovery.
package equivalents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"
)

// interval is the time between two reads of discovery, which shows changes of API servers and new
// aggregated ones. Changes of custom resources do not wait for it.
const interval = time.Minute

// A Mapper implements runtime.EquivalentResourceMapper. Safe for concurrent use.
type Mapper struct {
	client discovery.DiscoveryInterface
	crd    func(name string) *apiextensionsv1.CustomResourceDefinition
	// lists holds the resources of each group version. Only one goroutine uses it.
	lists []*metav1.APIResourceList
	// served holds the resources of lists. Requests read it without a lock.
	served atomic.Pointer[served]
}

// served holds resources and kinds. It is immutable once requests read it.
type served struct {
	kinds map[endpoint]schema.GroupVersionKind
	// equivalents holds the resources that have a subresource and the same identity.
	equivalents map[identified][]schema.GroupVersionResource
}

type endpoint struct {
	resource    schema.GroupVersionResource
	subresource string
}

type identified struct {
	identity    schema.GroupResource
	subresource string
}

// New returns a mapper that has read the discovery of the cluster. crd returns the
// CustomResourceDefinition of a name, or nil, and is safe for concurrent use. New returns an error
// if discovery fails.
func New(client discovery.DiscoveryInterface, crd func(name string) *apiextensionsv1.CustomResourceDefinition) (*Mapper, error) {
	m := &Mapper{client: client, crd: crd}
	return m, m.read()
}

// Run follows changes of discovery until ctx ends.
func (m *Mapper) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if err := m.read(); err != nil {
			klog.FromContext(ctx).Error(err, "Versions of built-in and aggregated resources are matched as before")
		}
	}
}

// read reads the discovery of the cluster. It keeps the resources of group versions whose server
// does not answer.
func (m *Mapper) read() error {
	_, lists, err := m.client.ServerGroupsAndResources()
	var failed *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("reading which resources the cluster serves: %w", err)
	}
	for _, list := range m.lists {
		version, _ := schema.ParseGroupVersion(list.GroupVersion)
		if failed != nil && failed.Groups[version] != nil {
			lists = append(lists, list)
		}
	}
	s := &served{map[endpoint]schema.GroupVersionKind{}, map[identified][]schema.GroupVersionResource{}}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			name, subresource, _ := strings.Cut(r.Name, "/")
			resource, kind := version.WithResource(name), version.WithKind(r.Kind)
			if r.Version != "" {
				kind.Group, kind.Version = r.Group, r.Version
			}
			s.kinds[endpoint{resource, subresource}] = kind
			common := identified{identity(resource.GroupResource()), subresource}
			s.equivalents[common] = append(s.equivalents[common], resource)
		}
	}
	m.lists = lists
	m.served.Store(s)
	return nil
}

// identity returns the resource under which a resource is registered. Resources of different groups
// with the same identity are equivalent. Kubernetes stores the events of two groups in one place,
// so those of events.k8s.io have the identity of core events. There are no other such resources
// since Kubernetes has stopped to serve the group extensions: see its
// pkg/kubeapiserver/default_storage_factory_builder.go.
func identity(r schema.GroupResource) schema.GroupResource {
	if r == eventsv1.Resource("events") {
		return corev1.Resource("events")
	}
	return r
}

// EquivalentResourcesFor implements runtime.EquivalentResourceMapper.
func (m *Mapper) EquivalentResourcesFor(resource schema.GroupVersionResource, subresource string) []schema.GroupVersionResource {
	crd := m.crd(resource.GroupResource().String())
	if crd == nil {
		return m.served.Load().equivalents[identified{identity(resource.GroupResource()), subresource}]
	}
	var resources []schema.GroupVersionResource
	for i := range crd.Spec.Versions {
		equivalent := resource.GroupResource().WithVersion(crd.Spec.Versions[i].Name)
		if !kindOf(crd, equivalent, subresource).Empty() {
			resources = append(resources, equivalent)
		}
	}
	return resources
}

// KindFor implements runtime.EquivalentResourceMapper.
func (m *Mapper) KindFor(resource schema.GroupVersionResource, subresource string) schema.GroupVersionKind {
	if crd := m.crd(resource.GroupResource().String()); crd != nil {
		return kindOf(crd, resource, subresource)
	}
	return m.served.Load().kinds[endpoint{resource, subresource}]
}

// kindOf returns the kind of a custom resource, or the empty kind if there is no such version or
// subresource. Versions that are not served count, too: Kubernetes matches them.
func kindOf(crd *apiextensionsv1.CustomResourceDefinition, resource schema.GroupVersionResource, subresource string) schema.GroupVersionKind {
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Name != resource.Version {
			continue
		}
		switch {
		case subresource == "", subresource == "status" && v.Subresources != nil && v.Subresources.Status != nil:
			return resource.GroupVersion().WithKind(crd.Status.AcceptedNames.Kind)
		case subresource == "scale" && v.Subresources != nil && v.Subresources.Scale != nil:
			return autoscalingv1.SchemeGroupVersion.WithKind("Scale")
		}
	}
	return schema.GroupVersionKind{}
}
