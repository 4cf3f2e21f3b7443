// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"celador.io/admission/policyspec"
	"celador.io/celador/test/integration/testserver"
)

// examples are folders of manifests that use no alpha fields, with their objects and the expected
// fields of each in YAML.
var examples = map[string]map[string]string{
	"mutating-dns": {
		"pod.yaml": `
spec:
  dnsPolicy: None
  dnsConfig: {nameservers: [192.0.2.53], searches: [demo.svc.cluster.local, corp.example.com]}`,
		"pod-unchanged.yaml": `spec: {dnsPolicy: Default, dnsConfig: null}`,
	},
	"mutating-proxy": {
		"pod.yaml": `
spec:
  initContainers:
  - name: fetch
    env: [{name: HTTP_PROXY, value: "http://proxy.example.com:3128"}, {name: HTTPS_PROXY, value: "http://proxy.example.com:3128"}]
  containers:
  - name: web
    env: [{name: COLOR, value: blue}, {name: HTTP_PROXY, value: "http://proxy.example.com:3128"}, {name: HTTPS_PROXY, value: "http://proxy.example.com:3128"}]
  - name: direct
    env: [{name: HTTP_PROXY}, {name: HTTPS_PROXY, value: "http://other.example.com:3128"}]`,
	},
	"mutating-image-pull": {
		"deployment.yaml": `
spec:
  template:
    spec:
      initContainers: [{name: fetch, imagePullPolicy: Always}]
      containers: [{name: web, imagePullPolicy: Always}, {name: latest, imagePullPolicy: Always}, {name: sidecar, imagePullPolicy: Always}]`,
	},
	"mutating-replicas": {
		"deployment.yaml":           `spec: {replicas: 5}`,
		"deployment-unchanged.yaml": `spec: {replicas: 8}`,
	},
	"mutating-webhooks": {
		"validating.yaml": safeWebhooks("checked"),
		"mutating.yaml":   safeWebhooks("changed"),
	},
}

func safeWebhooks(label string) string {
	const (
		leases     = `{name: exclude-leases, expression: "!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases')"}`
		kubeSystem = `{key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system]}`
	)
	return `
webhooks:
- name: everything.example.com
  namespaceSelector: {matchExpressions: [` + kubeSystem + `]}
  matchConditions: [` + leases + `]
- name: labelled.example.com
  namespaceSelector: {matchExpressions: [{key: ` + label + `, operator: Exists}, ` + kubeSystem + `]}
  matchConditions: [{name: humans, expression: "!request.userInfo.username.startsWith('system:')"}, ` + leases + `]`
}

// TestExamples checks the objects that the examples change. Applying or writing a changed object
// again changes nothing.
func TestExamples(t *testing.T) {
	folders := testserver.Must(filepath.Glob(filepath.Join("..", "..", "..", "examples", "mutating-*")))(t)
	withGates := 0
	for _, dir := range folders {
		name := filepath.Base(dir)
		policy := testserver.Parse[v1.MutatingAdmissionPolicy](t, string(testserver.Must(os.ReadFile(filepath.Join(dir, "policy.yaml")))(t)))
		if len(policyspec.InUse(&policy.Spec, nil)) > 0 {
			withGates++ // has fields of gates that are off here
			continue
		}
		t.Run(name, func(t *testing.T) {
			e := example{t, dir}
			files := examples[name]
			e.install(files)
			for file, want := range files {
				applied := e.apply(file)
				e.expectFields(applied, want)
				e.expectSettled(applied)
				e.expectSame(file+" applied again", applied, e.apply(file))
			}
		})
	}
	if len(folders) != len(examples)+withGates {
		t.Errorf("got %d folders, want the %d that are tested here and %d of alpha gates", len(folders), len(examples), withGates)
	}
}

// example is a folder of manifests.
type example struct {
	t   *testing.T
	dir string
}

// install applies all manifests except the objects that the example changes and the suite, which is
// no object.
func (e example) install(objects map[string]string) {
	e.t.Helper()
	entries := testserver.Must(os.ReadDir(e.dir))(e.t)
	if _, err := os.Stat(filepath.Join(e.dir, "namespace.yaml")); err == nil {
		e.apply("namespace.yaml")
		newAccount(e.t, "demo")
	}
	left := len(objects)
	for _, entry := range entries {
		if _, ok := objects[entry.Name()]; ok {
			left--
		} else if entry.Name() != "namespace.yaml" && entry.Name() != "suite.yaml" {
			e.apply(entry.Name())
		}
	}
	if left != 0 {
		e.t.Errorf("%d of the expected objects are not in %s", left, e.dir)
	}
	settle(e.t)
}

// apply applies a manifest and deletes its object at the end of the test.
func (e example) apply(file string) *unstructured.Unstructured {
	e.t.Helper()
	text := testserver.Must(os.ReadFile(filepath.Join(e.dir, file)))(e.t)
	obj := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](e.t, string(text))}
	client := clientFor(e.t, obj)
	applied, err := client.Apply(e.t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test"})
	if err != nil {
		e.t.Fatalf("%s: %v", file, err)
	}
	// A deleted namespace would remain, because no controller finalizes it.
	if obj.GetKind() != "Namespace" {
		e.t.Cleanup(func() {
			var now int64
			testserver.ExpectDeleted(e.t, client.Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now}))
		})
	}
	return applied
}

// clientFor returns a client for objects of the same kind in the same namespace.
func clientFor(t *testing.T, obj *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	mapper := restmapper.NewDiscoveryRESTMapper(testserver.Must(restmapper.GetAPIGroupResources(core.Discovery()))(t))
	mapping := testserver.Must(mapper.RESTMapping(obj.GroupVersionKind().GroupKind(), obj.GroupVersionKind().Version))(t)
	return objects.Resource(mapping.Resource).Namespace(obj.GetNamespace())
}

// expectSettled checks that policies change nothing when they see the object again.
func (e example) expectSettled(applied *unstructured.Unstructured) {
	e.t.Helper()
	client := clientFor(e.t, applied)
	again := applied.DeepCopy()
	again.SetName("again")
	again.SetResourceVersion("")
	again.SetUID("")
	again.SetManagedFields(nil)
	e.expectSame("created again", applied, testserver.Must(client.Create(e.t.Context(), again, dry))(e.t))
	again = applied.DeepCopy()
	again.SetManagedFields(nil)
	updated, err := client.Update(e.t.Context(), again, metav1.UpdateOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	e.expectSame("updated", applied, updated)
	if updated.GetGeneration() != applied.GetGeneration() {
		e.t.Errorf("generation was %d, is %d", applied.GetGeneration(), updated.GetGeneration())
	}
}

// expectSame compares objects without the fields that the server sets for each object.
func (e example) expectSame(what string, want, got *unstructured.Unstructured) {
	e.t.Helper()
	bare := func(o *unstructured.Unstructured) map[string]any {
		o = o.DeepCopy()
		for _, field := range []string{"name", "uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
			unstructured.RemoveNestedField(o.Object, "metadata", field)
		}
		return o.Object
	}
	expectEqual(e.t, what, bare(want), bare(got))
}

// expectFields checks that the object has the fields. Null stands for a missing field. Elements
// of lists may have additional fields.
func (e example) expectFields(got *unstructured.Unstructured, want string) {
	e.t.Helper()
	wanted := testserver.Parse[map[string]any](e.t, want)
	if diff := cmp.Diff(any(wanted), reduce(got.Object, wanted)); diff != "" {
		e.t.Errorf("%s (-want +got):\n%s", got.GetName(), diff)
	}
}

// reduce returns the part of got that corresponds to the fields of want.
func reduce(got, want any) any {
	switch want := want.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		if !ok {
			return got
		}
		reduced := map[string]any{}
		for name, value := range want {
			reduced[name] = reduce(fields[name], value)
		}
		return reduced
	case []any:
		entries, ok := got.([]any)
		if !ok || len(entries) != len(want) {
			return got
		}
		reduced := make([]any, len(entries))
		for i := range entries {
			reduced[i] = reduce(entries[i], want[i])
		}
		return reduced
	case float64:
		if number, ok := got.(int64); ok {
			return float64(number)
		}
		return got
	default:
		return got
	}
}

// TestReplicasExampleLeavesUpdatesAlone checks that deployments can be scaled to one replica and
// keep it when they are applied again.
func TestReplicasExampleLeavesUpdatesAlone(t *testing.T) {
	e := example{t, filepath.Join("..", "..", "..", "examples", "mutating-replicas")}
	e.install(examples["mutating-replicas"])
	applied := e.apply("deployment.yaml")
	client := clientFor(t, applied)
	if err := unstructured.SetNestedField(applied.Object, int64(1), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	scaled, err := client.Update(t.Context(), applied, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e.expectFields(scaled, `spec: {replicas: 1}`)
	e.expectFields(e.apply("deployment.yaml"), `spec: {replicas: 1}`)
}

func TestExamplesAreStock(t *testing.T) {
	for name := range examples {
		text := string(testserver.Must(os.ReadFile(filepath.Join("..", "..", "..", "examples", name, "policy.yaml")))(t))
		if strings.Contains(text, "alpha") {
			t.Errorf("%s names an alpha feature", name)
		}
	}
}
