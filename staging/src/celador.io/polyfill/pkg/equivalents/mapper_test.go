// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalents_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"celador.io/polyfill/pkg/equivalents"
)

// A cluster implements discovery.DiscoveryInterface as far as the mapper uses it.
type cluster struct {
	discovery.DiscoveryInterface
	lock  sync.Mutex // for lists and err
	lists []*metav1.APIResourceList
	err   error
	crds  map[string]*apiextensionsv1.CustomResourceDefinition
}

func (c *cluster) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return nil, c.lists, c.err
}

func (c *cluster) crd(name string) *apiextensionsv1.CustomResourceDefinition { return c.crds[name] }

// serve adds resources to the cluster, by their names and kinds.
func (c *cluster) serve(version string, resources ...metav1.APIResource) {
	c.lists = append(c.lists, &metav1.APIResourceList{GroupVersion: version, APIResources: resources})
}

func newCluster() *cluster {
	c := &cluster{crds: map[string]*apiextensionsv1.CustomResourceDefinition{"bikes.shop.example.com": {
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "shop.example.com", Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
			{Name: "v1", Served: true, Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}, Scale: &apiextensionsv1.CustomResourceSubresourceScale{}}},
			{Name: "v2", Served: true, Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}},
			{Name: "v0"},
		}},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: apiextensionsv1.CustomResourceDefinitionNames{Plural: "bikes", Kind: "Bike"}},
	}}}
	c.serve("v1", metav1.APIResource{Name: "events", Version: "v1", Kind: "Event"}, metav1.APIResource{Name: "pods", Kind: "Pod"})
	c.serve("events.k8s.io/v1", metav1.APIResource{Name: "events", Kind: "Event"})
	c.serve("autoscaling/v1", metav1.APIResource{Name: "horizontalpodautoscalers", Kind: "HorizontalPodAutoscaler"})
	c.serve("autoscaling/v2", metav1.APIResource{Name: "horizontalpodautoscalers", Kind: "HorizontalPodAutoscaler"})
	c.serve("apps/v1", metav1.APIResource{Name: "deployments", Kind: "Deployment"}, metav1.APIResource{Name: "deployments/scale", Group: "autoscaling", Version: "v1", Kind: "Scale"})
	c.serve("metrics.k8s.io/v1beta1", metav1.APIResource{Name: "pods", Kind: "PodMetrics"})
	// Discovery is older than the definition.
	c.serve("shop.example.com/v1", metav1.APIResource{Name: "bikes", Kind: "Bike"})
	return c
}

func resource(group, version, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: name}
}

// found returns the kinds of the resources that are equivalent to one, as texts.
func found(m *equivalents.Mapper, of schema.GroupVersionResource, subresource string) (found []string) {
	for _, r := range m.EquivalentResourcesFor(of, subresource) {
		kind := m.KindFor(r, subresource)
		found = append(found, r.GroupVersion().String()+"="+kind.GroupVersion().String()+" "+kind.Kind)
	}
	return found
}

func TestMapper(t *testing.T) {
	c := newCluster()
	m, err := equivalents.New(c, c.crd)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		resource    schema.GroupVersionResource
		subresource string
		want        []string
	}{
		{resource("", "v1", "events"), "", []string{"v1=v1 Event", "events.k8s.io/v1=events.k8s.io/v1 Event"}},
		{resource("events.k8s.io", "v1", "events"), "", []string{"v1=v1 Event", "events.k8s.io/v1=events.k8s.io/v1 Event"}},
		{resource("", "v1", "pods"), "", []string{"v1=v1 Pod"}},
		{resource("", "v1", "pods"), "exec", nil},
		{resource("autoscaling", "v2", "horizontalpodautoscalers"), "", []string{"autoscaling/v1=autoscaling/v1 HorizontalPodAutoscaler", "autoscaling/v2=autoscaling/v2 HorizontalPodAutoscaler"}},
		{resource("apps", "v1", "deployments"), "scale", []string{"apps/v1=autoscaling/v1 Scale"}},
		{resource("shop.example.com", "v1", "bikes"), "", []string{"shop.example.com/v1=shop.example.com/v1 Bike", "shop.example.com/v2=shop.example.com/v2 Bike", "shop.example.com/v0=shop.example.com/v0 Bike"}},
		{resource("shop.example.com", "v2", "bikes"), "status", []string{"shop.example.com/v1=shop.example.com/v1 Bike", "shop.example.com/v2=shop.example.com/v2 Bike"}},
		{resource("shop.example.com", "v2", "bikes"), "scale", []string{"shop.example.com/v1=autoscaling/v1 Scale"}},
		{resource("shop.example.com", "v1", "cars"), "", nil},
	} {
		if got := found(m, test.resource, test.subresource); !slices.Equal(got, test.want) {
			t.Errorf("%v %s: got %q, want %q", test.resource, test.subresource, got, test.want)
		}
	}
	if kind := m.KindFor(resource("shop.example.com", "v3", "bikes"), ""); !kind.Empty() {
		t.Errorf("a version that does not exist has the kind %v", kind)
	}
}

// What the cluster serves changes, and parts of discovery may fail.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		m, err := equivalents.New(c, c.crd)
		if err != nil {
			t.Fatal(err)
		}
		go m.Run(t.Context())
		autoscalers := resource("autoscaling", "v1", "horizontalpodautoscalers")
		for _, step := range []struct {
			name   string
			change func()
			want   int
		}{
			{"a new version", func() {
				c.serve("autoscaling/v3", metav1.APIResource{Name: autoscalers.Resource, Kind: "HorizontalPodAutoscaler"})
			}, 3},
			{"discovery fails", func() { c.err, c.lists = errors.New("down"), nil }, 3},
			{"discovery of one version fails", func() {
				c.err = &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: "autoscaling", Version: "v3"}: errors.New("down")}}
				c.serve("autoscaling/v1", metav1.APIResource{Name: autoscalers.Resource, Kind: "HorizontalPodAutoscaler"})
			}, 2},
			{"a version is gone", func() { c.err = nil }, 1},
		} {
			c.lock.Lock()
			step.change()
			c.lock.Unlock()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if got := m.EquivalentResourcesFor(autoscalers, ""); len(got) != step.want {
				t.Errorf("%s: got %v", step.name, got)
			}
		}
	})
	c := newCluster()
	c.err = errors.New("down")
	if _, err := equivalents.New(c, c.crd); err == nil {
		t.Error("a mapper that knows nothing")
	}
}
