// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// unconvertible creates the object "bad" with a timeout that cannot be converted and the object
// "good", stored in v3. The names in held are those of more objects that cannot be converted, with
// a finalizer.
func unconvertible(t *testing.T, held ...string) (group string) {
	t.Helper()
	group = defineRuled(t, admin, "v3")
	objects := []*unstructured.Unstructured{ruledWidget(group, "v3", "bad"), ruledWidget(group, "v3", "good")}
	for _, name := range held {
		object := ruledWidget(group, "v3", name)
		object.SetFinalizers([]string{"example.com/hold"})
		objects = append(objects, object)
	}
	// The objects are older than the rule that does not convert them.
	const lenient = "optional.ofNonZeroValue(self.?spec.?timeout.orValue('') == 'soon' ? 0 : 30)"
	var rule string
	changeRuled(t, admin, group, func(crd map[string]any) { rule = setRule(crd, 3, lenient) })
	for _, object := range objects {
		if object.GetName() != "good" {
			_ = unstructured.SetNestedField(object.Object, "soon", "spec", "timeout")
		}
		testserver.Eventually(t, func(ctx context.Context) error {
			_, err := in(admin, group, "v3").Create(ctx, object, metav1.CreateOptions{})
			return err
		})
	}
	changeRuled(t, admin, group, func(crd map[string]any) { setRule(crd, 3, rule) })
	testserver.Eventually(t, func(ctx context.Context) error {
		if _, err := in(admin, group, "v2").Get(ctx, "bad", metav1.GetOptions{}); err == nil {
			return errors.New("the object still converts")
		}
		return nil
	})
	return group
}

// expectUnconvertible expects the error of an object that cannot be converted.
func expectUnconvertible(t *testing.T, what string, err error) {
	t.Helper()
	for _, want := range []string{`cannot convert Widget "default/bad" from v3 to v2`, `spec.conversion.converters[3].rules[0] (field "spec.timeoutSeconds")`, "Duration"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q in it", what, err, want)
			return
		}
	}
}

// An object that cannot be converted is served in its stored version. Requests in other versions
// fail with an error that names it: lists as a whole, because a list that lacks an object would
// make controllers delete what belongs to it.
func TestUnconvertibleObjects(t *testing.T) {
	group := unconvertible(t)
	stored, other := in(admin, group, "v3"), in(admin, group, "v2")
	list := testserver.Must(stored.List(t.Context(), metav1.ListOptions{}))(t)
	if len(list.Items) != 2 {
		t.Errorf("got %d objects in v3, want 2", len(list.Items))
	}
	testserver.Must(stored.Get(t.Context(), "bad", metav1.GetOptions{}))(t)
	testserver.Must(other.Get(t.Context(), "good", metav1.GetOptions{}))(t)

	_, err := other.Get(t.Context(), "bad", metav1.GetOptions{})
	expectUnconvertible(t, "get", err)
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Code != 500 {
		t.Errorf("got %v, want code 500", err)
	}
	_, err = other.List(t.Context(), metav1.ListOptions{})
	expectUnconvertible(t, "list", err)
	_, err = other.Patch(t.Context(), "bad", "application/merge-patch+json", []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{})
	expectUnconvertible(t, "patch", err)

	// Repaired in its own version, it is served in all versions.
	testserver.Must(stored.Patch(t.Context(), "bad", "application/merge-patch+json", []byte(`{"spec":{"timeout":"5s"}}`), metav1.PatchOptions{}))(t)
	expectSpec(t, "get", testserver.Must(other.Get(t.Context(), "bad", metav1.GetOptions{}))(t), group, "v2", ruledSpec("v2", "a", 5))
	testserver.Eventually(t, func(ctx context.Context) error {
		list, err := other.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err == nil && len(list.Items) != 2 {
			err = fmt.Errorf("got %d objects, want 2", len(list.Items))
		}
		return err
	})

	// A deletion needs no conversion.
	for _, clients := range []dynamic.ResourceInterface{other, in(admin, unconvertible(t), "v2")} {
		testserver.ExpectDeleted(t, clients.Delete(t.Context(), "bad", metav1.DeleteOptions{}))
	}
}

// Objects that cannot be converted to the storage version are deleted in any way that Kubernetes
// has for objects that cannot be read, and with their CustomResourceDefinition.
func TestDeletionOfUnconvertibleObjects(t *testing.T) {
	group := unconvertible(t, "held", "unsafe")
	changeRuled(t, admin, group, func(crd map[string]any) { store(crd, "v1") })
	etcd := testserver.Store(t, dataDir)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := in(admin, group, "v1").Create(ctx, ruledWidget(group, "v1", "probe"), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		found, err := etcd.Get(ctx, "/registry/"+group+"/"+plural+"/"+namespace+"/probe")
		if err != nil || len(found.Kvs) != 1 || !strings.Contains(string(found.Kvs[0].Value), group+"/v1") {
			_ = in(admin, group, "v1").Delete(ctx, "probe", metav1.DeleteOptions{})
			return fmt.Errorf("got %v, %w, want the object in v1", found, err)
		}
		return nil
	})
	expectStored(t, etcd, group, "unsafe", "v3")

	// A request in the version of the object deletes it, whatever the storage version is.
	if err := in(admin, group, "v2").Delete(t.Context(), "unsafe", metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)}); err != nil {
		t.Errorf("deletion of an object that cannot be read: %v", err)
	}
	if _, err := in(admin, group, "v3").Get(t.Context(), "unsafe", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("got error %v, want the object deleted", err)
	}

	testserver.ExpectDeleted(t, admin.Objects.Resource(crds).Delete(t.Context(), plural+"."+group, metav1.DeleteOptions{}))
	testserver.Eventually(t, func(ctx context.Context) error {
		list, err := in(admin, group, "v3").List(ctx, metav1.ListOptions{})
		if err == nil && (len(list.Items) != 1 || list.Items[0].GetDeletionTimestamp() == nil) {
			err = fmt.Errorf("got %v, want the object with a finalizer alone, which is being deleted", list.Items)
		}
		return err
	})
	expectStored(t, etcd, group, "held", "v3")
	got := testserver.Must(in(admin, group, "v3").Get(t.Context(), "held", metav1.GetOptions{}))(t)
	if timeout, _, _ := unstructured.NestedString(got.Object, "spec", "timeout"); timeout != "soon" {
		t.Errorf("got %v, want the spec untouched", got.Object["spec"])
	}
	// Kubernetes' storage encodes the old object of an update in the storage version, too.
	changeRuled(t, admin, group, func(crd map[string]any) { store(crd, "v3") })
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := in(admin, group, "v3").Patch(ctx, "held", "application/json-patch+json", []byte(`[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{})
		return err
	})
	if err := gone(t.Context(), plural+"."+group); err != nil {
		t.Error(err)
	}
}
