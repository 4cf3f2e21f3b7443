// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"context"
	"errors"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

var (
	deployments  = appsv1.SchemeGroupVersion.WithResource("deployments")
	deployment   = appsv1.SchemeGroupVersion.WithKind("Deployment")
	deployments2 = schema.GroupVersionResource{Group: "apps", Version: "v2", Resource: "deployments"}
	deployment2  = deployments2.GroupVersion().WithKind("Deployment")
	legacy       = schema.GroupVersionResource{Group: "extensions", Version: "v1beta1", Resource: "deployments"}
	scale        = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	pods         = corev1.SchemeGroupVersion.WithResource("pods")
	pod          = corev1.SchemeGroupVersion.WithKind("Pod")
	nodes        = corev1.SchemeGroupVersion.WithResource("nodes")
	node         = corev1.SchemeGroupVersion.WithKind("Node")
	namespaces   = corev1.SchemeGroupVersion.WithResource("namespaces")
	namespace    = corev1.SchemeGroupVersion.WithKind("Namespace")
	// rooms is a resource of another group with the name namespaces.
	rooms = schema.GroupVersionResource{Group: "hotel.example.com", Version: "v1", Resource: "namespaces"}
	room  = rooms.GroupVersion().WithKind("Namespace")
)

// ask holds the attributes of an admission request that matter for matching.
type ask struct {
	operation   admission.Operation
	resource    schema.GroupVersionResource
	kind        schema.GroupVersionKind
	subresource string
	namespace   string
	name        string
	object, old runtime.Object
}

func (a ask) attributes() admission.Attributes {
	return admission.NewAttributesRecord(a.object, a.old, a.kind, a.namespace, a.name, a.resource, a.subresource, a.operation, nil, false, nil)
}

func (a ask) request(t *testing.T) *matching.Request {
	t.Helper()
	return matching.NewRequest(t.Context(), a.attributes(), served(), stored())
}

// served returns interfaces for a server with deployments in three versions, one of which has no
// kind.
func served() *admission.RuntimeObjectInterfaces {
	mapper := runtime.NewEquivalentResourceRegistryWithIdentity(func(r schema.GroupResource) string {
		if r.Resource == "deployments" {
			return "deployments"
		}
		return ""
	})
	mapper.RegisterKindFor(deployments, "", deployment)
	mapper.RegisterKindFor(deployments, "scale", scale)
	mapper.RegisterKindFor(deployments2, "", deployment2)
	mapper.RegisterKindFor(deployments2, "scale", scale)
	mapper.RegisterKindFor(legacy, "", schema.GroupVersionKind{})
	mapper.RegisterKindFor(pods, "", pod)
	mapper.RegisterKindFor(nodes, "", node)
	mapper.RegisterKindFor(namespaces, "", namespace)
	return &admission.RuntimeObjectInterfaces{EquivalentResourceMapper: mapper}
}

// storage is a set of namespaces. It implements matching.NamespaceGetter.
type storage map[string]*corev1.Namespace

var errStorage = errors.New("storage is down")

func stored() storage {
	return storage{
		"blue":  {ObjectMeta: labelled("blue", "color", "blue")},
		"plain": {ObjectMeta: metav1.ObjectMeta{Name: "plain"}},
		"down":  nil,
	}
}

func labelled(name, key, value string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{key: value}}
}

func (s storage) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	namespace, ok := s[name]
	if !ok {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	if namespace == nil {
		return nil, errStorage
	}
	return namespace, nil
}

func TestNamespace(t *testing.T) {
	for name, test := range map[string]struct {
		ask     ask
		want    string
		wantErr string
	}{
		"in a namespace":         {ask{resource: pods, kind: pod, namespace: "blue"}, "blue", ""},
		"connect options":        {ask{resource: pods, kind: corev1.SchemeGroupVersion.WithKind("PodExecOptions"), subresource: "exec", namespace: "plain"}, "plain", ""},
		"cluster-scoped":         {ask{resource: nodes, kind: node}, "", ""},
		"a namespace":            {ask{resource: namespaces, kind: namespace, namespace: "absent", name: "absent"}, "", ""},
		"namespace of its own":   {ask{resource: rooms, kind: room, namespace: "blue"}, "blue", ""},
		"in an absent namespace": {ask{resource: pods, kind: pod, namespace: "absent"}, "", `namespaces "absent" not found`},
		"in an unreadable one":   {ask{resource: pods, kind: pod, namespace: "down"}, "", "storage is down"},
		"namespace, other version": {ask{resource: schema.GroupVersionResource{Version: "v2", Resource: "namespaces"}, kind: schema.GroupVersionKind{Version: "v2", Kind: "Namespace"}, namespace: "absent"},
			"", `namespaces "absent" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.ask.request(t).Namespace()
			if text(err) != test.wantErr {
				t.Errorf("error is %v, want %q", err, test.wantErr)
			}
			if (got == nil) != (test.want == "") || got != nil && got.Name != test.want {
				t.Errorf("got namespace %v, want %q", got, test.want)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// counter counts the lookups of a request.
type counter struct {
	storage
	runtime.EquivalentResourceMapper
	namespaces, equivalents int
}

func (c *counter) GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	c.namespaces++
	return c.storage.GetNamespace(ctx, name)
}

func (c *counter) EquivalentResourcesFor(resource schema.GroupVersionResource, subresource string) []schema.GroupVersionResource {
	c.equivalents++
	return c.EquivalentResourceMapper.EquivalentResourcesFor(resource, subresource)
}

func TestLookupsAreMadeOnce(t *testing.T) {
	update := ask{operation: admission.Update, resource: deployments, kind: deployment, name: "web"}
	blue := &metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue"}}
	for name, test := range map[string]struct {
		namespace               string
		criteria                v1.MatchResources
		namespaces, equivalents int
	}{
		"rules and labels":       {"blue", v1.MatchResources{MatchPolicy: new(v1.Equivalent), NamespaceSelector: blue, ResourceRules: listing("apps/v2/deployments")}, 1, 1},
		"no matching rule":       {"blue", v1.MatchResources{MatchPolicy: new(v1.Exact), NamespaceSelector: blue, ResourceRules: listing("apps/v2/deployments")}, 0, 0},
		"rule for the request":   {"blue", v1.MatchResources{MatchPolicy: new(v1.Equivalent), ResourceRules: listing("apps/v1/deployments")}, 0, 0},
		"empty selector":         {"blue", v1.MatchResources{NamespaceSelector: &metav1.LabelSelector{}}, 0, 0},
		"excluded by equivalent": {"blue", v1.MatchResources{MatchPolicy: new(v1.Equivalent), NamespaceSelector: blue, ExcludeResourceRules: listing("apps/v2/deployments")}, 0, 1},
		"absent namespace":       {"absent", v1.MatchResources{NamespaceSelector: blue}, 1, 0},
		"unreadable namespace":   {"down", v1.MatchResources{NamespaceSelector: blue}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			interfaces := served()
			count := &counter{storage: stored(), EquivalentResourceMapper: interfaces.EquivalentResourceMapper}
			interfaces.EquivalentResourceMapper = count
			update.namespace = test.namespace
			request := matching.NewRequest(t.Context(), update.attributes(), interfaces, count)
			var first string
			for i := range 3 {
				_, matches, err := matching.Compile(&test.criteria).Match(request)
				if i == 0 {
					first = text(err)
				} else if text(err) != first {
					t.Errorf("error is %v, was %q", err, first)
				}
				if matches && err != nil {
					t.Errorf("a match in spite of %v", err)
				}
			}
			if count.namespaces != test.namespaces || count.equivalents != test.equivalents {
				t.Errorf("%d namespaces and %d equivalents looked up, want %d and %d", count.namespaces, count.equivalents, test.namespaces, test.equivalents)
			}
			if test.namespaces == 0 {
				return
			}
			request.Namespace()
			if count.namespaces != 1 {
				t.Error("the namespace is looked up again")
			}
		})
	}
}
