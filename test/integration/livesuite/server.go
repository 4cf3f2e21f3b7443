// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package livesuite sends the requests of suites to running servers, to compare their answers with
// those that suites get without a server.
package livesuite

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

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"

	"celador.io/celador/test/integration/testserver"
)

// A Server is a running server that is subject to the manifests of one suite at a time.
type Server struct {
	// Clients may do everything.
	testserver.Clients
	// AuditLog is the path of the server's audit log. If it is empty, answers have no audit
	// annotations.
	AuditLog string
	// Policies is the API group and version in which policies and bindings are created, whatever
	// their manifests say, such as that of the polyfill. It defaults to
	// admissionregistration.k8s.io/v1.
	Policies schema.GroupVersion

	// mapper knows the kinds that the server served at the last discovery. Looking up a kind that
	// it does not know causes another discovery.
	mapper meta.RESTMapper
}

// Setup creates the manifests of a case and the object that its request changes. They exist until
// the end of the test. Policies are in effect when Setup returns. Setup leaves out webhook
// configurations, because nobody answers for their webhooks.
func (s *Server) Setup(t testing.TB, manifests []*unstructured.Unstructured, request *cluster.Request) {
	t.Helper()
	var policies, others []*unstructured.Unstructured
	for _, object := range manifests {
		switch old := request.OldObject; {
		case strings.HasSuffix(object.GetKind(), "WebhookConfiguration"):
		case IsPolicy(object):
			policies = append(policies, object)
		case old == nil || object.GroupVersionKind().GroupKind() != old.GroupVersionKind().GroupKind() || object.GetNamespace() != old.GetNamespace() || object.GetName() != old.GetName():
			others = append(others, object)
		}
	}
	s.Install(t, others...)
	if request.OldObject != nil {
		s.Install(t, request.OldObject)
	}
	s.Install(t, policies...)
}

// context returns a context for requests to the server. It does not end with the test, because
// cleanup functions send requests, too.
func (s *Server) context(t testing.TB) context.Context { return context.WithoutCancel(t.Context()) }

// Install creates objects, which exist until the end of the test. Policies are in effect when
// Install returns.
func (s *Server) Install(t testing.TB, objects ...*unstructured.Unstructured) {
	t.Helper()
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	if slices.ContainsFunc(objects, IsPolicy) {
		t.Cleanup(func() { s.settle(t) })
		defer s.settle(t)
	}
	for _, object := range sorted {
		s.create(t, object)
	}
}

// rank returns the position of an object in the order of creation: objects that others need come
// first, and bindings last.
func rank(object *unstructured.Unstructured) int {
	kinds := []string{"Namespace", "CustomResourceDefinition", "", cluster.ValidatingKind, cluster.MutatingKind}
	switch kind := object.GetKind(); {
	case slices.Contains(kinds, kind):
		return slices.Index(kinds, kind)
	case IsPolicy(object): // a binding
		return len(kinds)
	}
	return slices.Index(kinds, "")
}

// IsPolicy reports whether an object is a policy or a binding.
func IsPolicy(object *unstructured.Unstructured) bool {
	kind := strings.TrimSuffix(object.GetKind(), "Binding")
	return kind == cluster.ValidatingKind || kind == cluster.MutatingKind
}

// create creates an object and deletes it at the end of the test. Namespaces are not deleted,
// because no controller would finalize them, nor CustomResourceDefinitions, because it takes
// seconds until a new one is served.
func (s *Server) create(t testing.TB, object *unstructured.Unstructured) {
	t.Helper()
	if object.GetKind() == "Namespace" {
		s.namespace(t, object.GetName(), object.GetLabels(), object.GetAnnotations())
		return
	}
	if IsPolicy(object) {
		object = object.DeepCopy()
		object.SetAPIVersion(s.policies().String())
	}
	client := s.client(t, object)
	if object.GetKind() == "CustomResourceDefinition" {
		s.define(t, client, object)
		return
	}
	remove := func() {
		options := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
		testserver.ExpectDeleted(t, client.Delete(s.context(t), object.GetName(), options))
	}
	created, err := client.Create(s.context(t), object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) { // the service account that pods need
		remove()
		created, err = client.Create(s.context(t), object, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	t.Cleanup(remove)
	if status, ok := object.Object["status"]; ok {
		created.Object["status"] = status
		testserver.Must(client.UpdateStatus(s.context(t), created, metav1.UpdateOptions{}))(t)
	}
}

// define creates a CustomResourceDefinition, or replaces the spec of the existing one. It returns
// when the server serves all of its served versions.
func (s *Server) define(t testing.TB, client dynamic.ResourceInterface, definition *unstructured.Unstructured) {
	t.Helper()
	current, err := client.Get(s.context(t), definition.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(s.context(t), definition, metav1.CreateOptions{})
	} else if err == nil {
		current.Object["spec"] = definition.Object["spec"]
		_, err = client.Update(s.context(t), current, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	kind := cluster.CustomKind(definition)
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, version := range versions {
		if fields := version.(map[string]any); fields["served"] == true {
			s.resource(t, kind.WithVersion(fields["name"].(string)))
		}
	}
}

// resource returns the mapping of a kind to its resource. It waits until the server serves the
// kind.
func (s *Server) resource(t testing.TB, kind schema.GroupVersionKind) (mapping *meta.RESTMapping) {
	t.Helper()
	testserver.Eventually(t, func(context.Context) (err error) {
		if s.mapper != nil {
			if mapping, err = s.mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
				return nil
			}
		}
		groups, err := restmapper.GetAPIGroupResources(s.Core.Discovery())
		if err != nil {
			return err
		}
		s.mapper = restmapper.NewDiscoveryRESTMapper(groups)
		mapping, err = s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		return err
	})
	return mapping
}

// client returns a client for the resource and the namespace of an object. It creates the namespace
// unless it exists.
func (s *Server) client(t testing.TB, object *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	mapping := s.resource(t, object.GroupVersionKind())
	client := s.Objects.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return client
	}
	namespace := cmp.Or(object.GetNamespace(), corev1.NamespaceDefault)
	s.ensure(t, namespace)
	return client.Namespace(namespace)
}

// ensure creates a namespace unless it exists, and the service account in it without which no pod
// can be created.
func (s *Server) ensure(t testing.TB, name string) {
	t.Helper()
	_, err := s.Core.CoreV1().Namespaces().Get(s.context(t), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		s.namespace(t, name, nil, nil)
	} else if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := s.Core.CoreV1().ServiceAccounts(name).Create(s.context(t), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// namespace creates a namespace, or replaces its labels and annotations.
func (s *Server) namespace(t testing.TB, name string, labels, annotations map[string]string) {
	t.Helper()
	wanted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}}
	client := s.Core.CoreV1().Namespaces()
	_, err := client.Create(s.context(t), wanted, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = client.Update(s.context(t), wanted, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// policies returns the API group and version in which policies and bindings are created.
func (s *Server) policies() schema.GroupVersion {
	return cmp.Or(s.Policies, v1.SchemeGroupVersion)
}

// Serves reports whether the server serves a kind.
func (s *Server) Serves(t testing.TB, kind schema.GroupVersionKind) bool {
	t.Helper()
	list, err := s.Core.Discovery().ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind })
}

// Accepts sends a dry-run request to create the object, and returns its error.
func (s *Server) Accepts(t testing.TB, object *unstructured.Unstructured) error {
	t.Helper()
	_, err := s.client(t, object).Create(s.context(t), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// settle returns when all earlier writes of policies and bindings are in effect. It creates further
// policies and waits until requests show their effect: a server receives the changes of each kind
// in the order of the writes, so it knows the earlier ones then. The objectSelector of these
// policies is unique, so that the polyfill makes a webhook of its own for them, which API servers
// learn of together with all others.
func (s *Server) settle(t testing.TB) {
	t.Helper()
	name := testserver.UniqueName("settle")
	constraints := `
  matchConstraints:
    objectSelector: {matchLabels: {settle: ` + name + `}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]`
	settled, manifests := "object.?data.settled == optional.of('true')", []string{
		`MutatingAdmissionPolicy
spec:
  reinvocationPolicy: Never
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'settled': 'true'}}"}}]` + constraints,
		`MutatingAdmissionPolicyBinding
spec: {policyName: ` + name + `}`,
	}
	if !s.Serves(t, s.policies().WithKind(cluster.MutatingKind)) {
		settled, manifests = "true", nil
	}
	for _, manifest := range append(manifests,
		`ValidatingAdmissionPolicy
spec:
  validations: [{expression: "!(`+settled+`)", message: settled}]`+constraints,
		`ValidatingAdmissionPolicyBinding
spec: {policyName: `+name+`, validationActions: [Deny]}`,
	) {
		object := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, "apiVersion: "+s.policies().String()+"\nmetadata: {name: "+name+"}\nkind: "+manifest)}
		s.create(t, object)
	}
	testserver.Eventually(t, func(ctx context.Context) error {
		sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"settle": name}}}
		_, err := s.Core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("%s is not denied yet: %w", name, err)
		}
		return nil
	})
}
