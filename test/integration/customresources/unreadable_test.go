// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"celador.io/celador/test/integration/testserver"
)

// tenants are two namespaces of a group with objects in v1, the storage version. The object broken
// of the second one converts to neither v2 nor v3, since its rules have changed.
type tenants struct {
	group, healthy, hurt string
}

func breakObject(t *testing.T) tenants {
	t.Helper()
	s := tenants{defineRuled(t, admin, "v1"), admin.Namespace(t, nil), admin.Namespace(t, nil)}
	for namespace, names := range map[string][]string{s.healthy: {"a", "b"}, s.hurt: {"broken", "c"}} {
		for _, name := range names {
			w := ruledWidget(s.group, "v1", name)
			w.SetNamespace(namespace)
			w.Object["spec"] = ruledSpec("v1", name, 30)
			testserver.Must(s.objects("v1", namespace).Create(t.Context(), w, metav1.CreateOptions{}))(t)
		}
	}
	changeRuled(t, admin, s.group, func(crd map[string]any) {
		converters, _, _ := unstructured.NestedSlice(crd, "spec", "conversion", "converters")
		rule := converters[0].(map[string]any)["rules"].([]any)[0].(map[string]any)
		rule["rule"] = "self.spec.address == 'broken' ? optional.of([[self.spec.address]][1]) : optional.of([self.spec.address])"
		_ = unstructured.SetNestedSlice(crd, converters, "spec", "conversion", "converters")
	})
	testserver.Eventually(t, func(ctx context.Context) error {
		if _, err := s.objects("v2", s.hurt).Get(ctx, "broken", metav1.GetOptions{}); err == nil {
			return errors.New("the object still converts")
		}
		return nil
	})
	return s
}

// objects is a client of one namespace, or of all if it is empty.
func (s tenants) objects(version, namespace string) dynamic.ResourceInterface {
	return admin.Objects.Resource(resource(s.group, version)).Namespace(namespace)
}

func (s tenants) expectNames(t *testing.T, version, namespace string, options metav1.ListOptions, want ...string) {
	t.Helper()
	list, err := s.objects(version, namespace).List(t.Context(), options)
	if err != nil {
		t.Errorf("list %s in %q: %v", version, namespace, err)
		return
	}
	var got []string
	for _, item := range list.Items {
		got = append(got, item.GetName())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("list %s in %q: got %v, want %v", version, namespace, got, want)
	}
}

// An object that does not convert is an error of the requests that contain it. Other tenants notice
// nothing and learn nothing of it, and the condition of the CustomResourceDefinition counts it
// until it is mended.
func TestTenantsOfAnObjectThatDoesNotConvert(t *testing.T) {
	s := breakObject(t)
	anyVersion := metav1.ListOptions{ResourceVersion: "0"}
	for _, options := range []metav1.ListOptions{{}, anyVersion, {Limit: 1000}} {
		for _, version := range ruledVersions {
			s.expectNames(t, version, s.healthy, options, "a", "b")
		}
		s.expectNames(t, "v1", "", options, "a", "b", "broken", "c")
		for _, namespace := range []string{"", s.hurt} {
			_, err := s.objects("v3", namespace).List(t.Context(), options)
			status := apierrors.APIStatus(nil)
			if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonStoreReadError || !strings.Contains(err.Error(), s.hurt+"/broken") {
				t.Errorf("list v3 in %q: got error %v, want StorageReadError that names the object", namespace, err)
			}
		}
	}

	// Watches of others go on. One that meets the object ends with an error event.
	start := testserver.Must(s.objects("v1", s.hurt).List(t.Context(), metav1.ListOptions{}))(t).GetResourceVersion()
	others := testserver.Must(s.objects("v3", s.healthy).Watch(t.Context(), metav1.ListOptions{ResourceVersion: start}))(t)
	defer others.Stop()
	own := testserver.Must(s.objects("v3", s.hurt).Watch(t.Context(), metav1.ListOptions{ResourceVersion: start}))(t)
	defer own.Stop()
	touch := func(version, namespace, name string) {
		t.Helper()
		patch := []byte(`{"metadata":{"annotations":{"touched":"yes"}}}`)
		testserver.Must(s.objects(version, namespace).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}))(t)
	}
	touch("v1", s.hurt, "broken")
	touch("v3", s.healthy, "a")
	if event := <-others.ResultChan(); event.Type != watch.Modified {
		t.Errorf("got %v, want the change of the other tenant", event)
	}
	if event := <-own.ResultChan(); event.Type != watch.Error || apierrors.ReasonForError(apierrors.FromObject(event.Object)) != metav1.StatusReasonStoreReadError {
		t.Errorf("got %v, want an error event", event)
	}

	objects := testserver.Must(metadata.NewForConfig(admin.Config))(t).Resource(resource(s.group, "v3"))
	list := testserver.Must(objects.List(t.Context(), metav1.ListOptions{}))(t)
	if len(list.Items) != 4 {
		t.Errorf("got the metadata of %d objects, want 4", len(list.Items))
	}

	s.expectCondition(t, "False", "1 object does not convert to v2, 1 object does not convert to v3")
	mended := []byte(`{"spec":{"address":"d"}}`)
	testserver.Must(s.objects("v1", s.hurt).Patch(t.Context(), "broken", types.MergePatchType, mended, metav1.PatchOptions{}))(t)
	s.expectNames(t, "v3", "", metav1.ListOptions{}, "a", "b", "broken", "c")
	s.expectCondition(t, "True", "")
}

func (s tenants) expectCondition(t *testing.T, status, message string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		crd, err := admin.Objects.Resource(crds).Get(ctx, plural+"."+s.group, metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
		for _, condition := range conditions {
			condition := condition.(map[string]any)
			if condition["type"] == "ObjectsReadable" && condition["status"] == status && strings.HasPrefix(condition["message"].(string), message) {
				return nil
			}
		}
		return fmt.Errorf("got conditions %v, want ObjectsReadable %s: %s", conditions, status, message)
	})
}
