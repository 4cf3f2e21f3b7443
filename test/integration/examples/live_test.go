// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"celador.io/offline/cluster"

	"celador.io/celador/test/integration/testserver"
)

// live is a running server that is subject to the manifests of one suite at a time.
type live struct {
	admin testserver.Clients
	// log is the path of the audit log.
	log string
	// mapper knows the kinds that the server served when one of them was last looked up in vain.
	mapper meta.RESTMapper
}

// context returns the context of requests, which cleanup functions may send, too.
func (l *live) context(t testing.TB) context.Context { return context.WithoutCancel(t.Context()) }

// install creates objects until the end of the test. Policies are in effect when install returns.
func (l *live) install(t testing.TB, objects ...*unstructured.Unstructured) {
	t.Helper()
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	if slices.ContainsFunc(objects, isPolicy) {
		t.Cleanup(func() { l.settle(t) })
		defer l.settle(t)
	}
	for _, object := range sorted {
		l.create(t, object)
	}
}

// rank is the position of an object in the order of creation: those that others need come first.
func rank(object *unstructured.Unstructured) int {
	kinds := []string{"Namespace", "CustomResourceDefinition", "", cluster.ValidatingKind, cluster.MutatingKind}
	switch kind := object.GetKind(); {
	case slices.Contains(kinds, kind):
		return slices.Index(kinds, kind)
	case isPolicy(object): // a binding
		return len(kinds)
	}
	return slices.Index(kinds, "")
}

// isPolicy reports whether an object is a policy or a binding.
func isPolicy(object *unstructured.Unstructured) bool {
	kind := strings.TrimSuffix(object.GetKind(), "Binding")
	return kind == cluster.ValidatingKind || kind == cluster.MutatingKind
}

// create creates an object and deletes it at the end of the test. Namespaces stay, because no
// controller finalizes them, and so do definitions, which take seconds to be served.
func (l *live) create(t testing.TB, object *unstructured.Unstructured) {
	t.Helper()
	if object.GetKind() == "Namespace" {
		l.namespace(t, object.GetName(), object.GetLabels(), object.GetAnnotations())
		return
	}
	client := l.client(t, object)
	if object.GetKind() == "CustomResourceDefinition" {
		l.define(t, client, object)
		return
	}
	created, err := client.Create(l.context(t), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	t.Cleanup(func() {
		options := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
		testserver.ExpectDeleted(t, client.Delete(l.context(t), object.GetName(), options))
	})
	if status, ok := object.Object["status"]; ok {
		created.Object["status"] = status
		testserver.Must(client.UpdateStatus(l.context(t), created, metav1.UpdateOptions{}))(t)
	}
}

// define creates a definition, or replaces its spec.
func (l *live) define(t testing.TB, client dynamic.ResourceInterface, definition *unstructured.Unstructured) {
	t.Helper()
	current, err := client.Get(l.context(t), definition.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(l.context(t), definition, metav1.CreateOptions{})
	} else if err == nil {
		current.Object["spec"] = definition.Object["spec"]
		_, err = client.Update(l.context(t), current, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// resource returns the resource of a kind. It waits until the server serves it.
func (l *live) resource(t testing.TB, kind schema.GroupVersionKind) (mapping *meta.RESTMapping) {
	t.Helper()
	testserver.Eventually(t, func(context.Context) (err error) {
		if l.mapper != nil {
			if mapping, err = l.mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
				return nil
			}
		}
		groups, err := restmapper.GetAPIGroupResources(l.admin.Core.Discovery())
		if err != nil {
			return err
		}
		l.mapper = restmapper.NewDiscoveryRESTMapper(groups)
		mapping, err = l.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		return err
	})
	return mapping
}

// client returns a client for the resource of an object. The namespace of the object exists
// afterwards.
func (l *live) client(t testing.TB, object *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	mapping := l.resource(t, object.GroupVersionKind())
	client := l.admin.Objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return client
	}
	namespace := cmp.Or(object.GetNamespace(), corev1.NamespaceDefault)
	l.ensure(t, namespace)
	return client.Namespace(namespace)
}

// ensure creates a namespace that does not exist, and the service account that pods need.
func (l *live) ensure(t testing.TB, name string) {
	t.Helper()
	_, err := l.admin.Core.CoreV1().Namespaces().Get(l.context(t), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		l.namespace(t, name, nil, nil)
	} else if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := l.admin.Core.CoreV1().ServiceAccounts(name).Create(l.context(t), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// namespace creates a namespace, or replaces its labels and annotations.
func (l *live) namespace(t testing.TB, name string, labels, annotations map[string]string) {
	t.Helper()
	wanted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}}
	client := l.admin.Core.CoreV1().Namespaces()
	_, err := client.Create(l.context(t), wanted, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = client.Update(l.context(t), wanted, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// settle returns when all earlier writes of policies and bindings are in effect. The server
// receives the changes of each kind in the order of the writes.
func (l *live) settle(t testing.TB) {
	t.Helper()
	name := testserver.UniqueName("settle")
	constraints := `
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps], resourceNames: [` + name + `]}]}`
	for _, manifest := range []string{
		`MutatingAdmissionPolicy
spec:
  reinvocationPolicy: Never
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'settled': 'true'}}"}}]` + constraints,
		`MutatingAdmissionPolicyBinding
spec: {policyName: ` + name + `}`,
		`ValidatingAdmissionPolicy
spec:
  validations: [{expression: "object.?data.settled != optional.of('true')", message: settled}]` + constraints,
		`ValidatingAdmissionPolicyBinding
spec: {policyName: ` + name + `, validationActions: [Deny]}`,
	} {
		object := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, "apiVersion: admissionregistration.k8s.io/v1\nmetadata: {name: "+name+"}\nkind: "+manifest)}
		l.create(t, object)
	}
	testserver.Eventually(t, func(ctx context.Context) error {
		sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := l.admin.Core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("%s is not denied yet: %w", name, err)
		}
		return nil
	})
}
