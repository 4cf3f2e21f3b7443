// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	namespacecontroller "k8s.io/kubernetes/pkg/controller/namespace"

	"celador.io/celador/test/integration/testserver"
)

// startControllers runs Kubernetes' namespace controller and garbage collector until the end of the
// test.
func startControllers(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	objects := testserver.Must(metadata.NewForConfig(admin.Config))(t)
	discovery := admin.Core.Discovery()

	core := informers.NewSharedInformerFactory(admin.Core, 0)
	namespaces := namespacecontroller.NewNamespaceController(ctx, admin.Core, objects, discovery.ServerPreferredNamespacedResources, core.Core().V1().Namespaces(), time.Hour, corev1.FinalizerKubernetes)
	core.Start(ctx.Done())
	running.Go(func() { namespaces.Run(ctx, 2) })

	started := make(chan struct{})
	close(started)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovery))
	collector := testserver.Must(garbagecollector.NewGarbageCollector(ctx, admin.Core, objects, mapper, garbagecollector.DefaultIgnoredResources(),
		metadataInformers{metadatainformer.NewSharedInformerFactory(objects, 0)}, started))(t)
	running.Go(func() { collector.Run(ctx, 4, deadline) })
	running.Go(func() { collector.Sync(ctx, discovery, time.Second) })
}

// metadataInformers are informers of all resources, by their metadata.
type metadataInformers struct {
	metadatainformer.SharedInformerFactory
}

// ForResource implements informerfactory.InformerFactory.
func (m metadataInformers) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	return m.SharedInformerFactory.ForResource(resource), nil
}

// Kubernetes' controllers delete owners and their dependents, and namespaces, although objects do
// not convert to the version that they prefer.
func TestControllersOfObjectsThatDoNotConvert(t *testing.T) {
	s := breakObject(t)
	etcd := testserver.Store(t, dataDir)
	startControllers(t)
	t.Run("owners", func(t *testing.T) {
		for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
			for _, broken := range []string{"owner", "dependent", "both"} {
				t.Run(fmt.Sprint(policy, " ", broken), func(t *testing.T) {
					t.Parallel()
					s.testOwner(t, etcd, policy, broken)
				})
			}
		}
	})
	for _, name := range []string{admin.Namespace(t, nil), s.hurt} {
		namespaces := admin.Core.CoreV1().Namespaces()
		testserver.ExpectDeleted(t, namespaces.Delete(t.Context(), name, metav1.DeleteOptions{}))
		testserver.Eventually(t, func(ctx context.Context) error {
			if _, err := namespaces.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("got error %w, want the namespace gone", err)
			}
			return nil
		})
	}
	s.expectNames(t, "v1", "", metav1.ListOptions{}, "a", "b")
}

// testOwner deletes an owner of a dependent in a namespace of their own, of which at least one does
// not convert.
func (s tenants) testOwner(t *testing.T, etcd *clientv3.Client, policy metav1.DeletionPropagation, broken string) {
	namespace := admin.Namespace(t, nil)
	t.Cleanup(func() {
		// What is orphaned would fail the lists of other tests.
		testserver.Must(etcd.Delete(context.Background(), s.key(namespace, ""), clientv3.WithPrefix()))(t)
	})
	address := func(name string) string {
		if broken == name || broken == "both" {
			return "broken"
		}
		return "sound"
	}
	owner := s.put(t, etcd, namespace, "owner", address("owner"), nil)
	yes := true
	reference := metav1.OwnerReference{APIVersion: s.group + "/v3", Kind: kind, Name: "owner", UID: owner.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes}
	s.put(t, etcd, namespace, "dependent", address("dependent"), func(w *unstructured.Unstructured) { w.SetOwnerReferences([]metav1.OwnerReference{reference}) })

	client := s.metadata(t, "v3", namespace)
	if err := client.Delete(t.Context(), "owner", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
	testserver.Eventually(t, func(ctx context.Context) error {
		if got, err := client.Get(ctx, "owner", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("owner: got %v, %w, want it gone", got, err)
		}
		got, err := client.Get(ctx, "dependent", metav1.GetOptions{})
		switch {
		case policy == metav1.DeletePropagationOrphan && err == nil && len(got.OwnerReferences) == 0 && got.DeletionTimestamp == nil:
			return nil
		case policy != metav1.DeletePropagationOrphan && apierrors.IsNotFound(err):
			return nil
		default:
			return fmt.Errorf("dependent: got %v, %w", got, err)
		}
	})
}

// Users who may read nothing but their own namespaces meet objects that do not convert in these
// alone, and learn of no others.
func TestUsersOfAnObjectThatDoesNotConvert(t *testing.T) {
	s := breakObject(t)
	healthy, hurt := s.user(t, s.healthy), s.user(t, s.hurt)
	expectOwn := func(t *testing.T, action string, err error, others string) {
		t.Helper()
		if err != nil && strings.Contains(err.Error(), others) {
			t.Errorf("%s: the error %v names %s", action, err, others)
		}
	}
	for _, version := range ruledVersions {
		for _, user := range []tenant{healthy, hurt} {
			other := s.hurt
			if user.namespace == s.hurt {
				other = s.healthy
			}
			_, err := user.objects(s, version, "").List(t.Context(), metav1.ListOptions{})
			expectOwn(t, "list of all namespaces", err, other)
			if !apierrors.IsForbidden(err) {
				t.Errorf("list of all namespaces: got error %v, want it forbidden", err)
			}
		}
		own := healthy.objects(s, version, s.healthy)
		list := testserver.Must(own.List(t.Context(), metav1.ListOptions{}))(t)
		if len(list.Items) != 2 {
			t.Errorf("got %d objects in %s, want 2", len(list.Items), version)
		}
		testserver.Must(own.Get(t.Context(), "a", metav1.GetOptions{}))(t)
		watch := testserver.Must(own.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}))(t)
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"watched":%q}}}`, version)
		testserver.Must(s.objects("v1", s.hurt).Patch(t.Context(), "broken", types.MergePatchType, patch, metav1.PatchOptions{}))(t)
		testserver.Must(own.Patch(t.Context(), "a", types.MergePatchType, patch, metav1.PatchOptions{}))(t)
		event := <-watch.ResultChan()
		if w, ok := event.Object.(*unstructured.Unstructured); !ok || w.GetName() != "a" {
			t.Errorf("watch in %s: got %v, want the change of a", version, event)
		}
		watch.Stop()

		_, err := hurt.objects(s, version, s.hurt).List(t.Context(), metav1.ListOptions{})
		expectOwn(t, "list", err, s.healthy)
		if broken := err != nil && strings.Contains(err.Error(), s.hurt+"/broken"); broken != (version != "v1") {
			t.Errorf("list in %s: got error %v, want one that names the object in other versions than v1", version, err)
		}
		_, err = hurt.objects(s, version, s.hurt).Get(t.Context(), "broken", metav1.GetOptions{})
		expectOwn(t, "get", err, s.healthy)
	}
}

// tenant is a user who may do everything with the widgets of a namespace.
type tenant struct {
	testserver.Clients
	namespace string
}

func (u tenant) objects(s tenants, version, namespace string) dynamic.ResourceInterface {
	return u.Objects.Resource(resource(s.group, version)).Namespace(namespace)
}

func (s tenants) user(t *testing.T, namespace string) tenant {
	t.Helper()
	user := "user-of-" + namespace
	rbac := admin.Core.RbacV1()
	testserver.Must(rbac.Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "own"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{s.group}, Resources: []string{plural}, Verbs: []string{"*"}}},
	}, metav1.CreateOptions{}))(t)
	testserver.Must(rbac.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "own"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "own"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{}))(t)
	tenant := tenant{admin.As(t, user, "system:authenticated"), namespace}
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := tenant.objects(s, "v1", namespace).List(ctx, metav1.ListOptions{})
		return err
	})
	return tenant
}
