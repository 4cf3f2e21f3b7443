// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/component-base/metrics/testutil"

	"celador.io/celador/test/integration/testserver"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// limitKind is a custom kind of params in its own API group.
type limitKind struct{ group string }

func newLimitKind() limitKind { return limitKind{testserver.UniqueName("limits") + ".example.com"} }

// in returns the paramKind of a policy.
func (k limitKind) in(version string) string {
	return `{apiVersion: ` + k.group + `/` + version + `, kind: Limit}`
}

// unknown returns the message of denials while the version is not served.
func (k limitKind) unknown(version string) string {
	return "failed to configure policy: failed to find resource referenced by paramKind: '" + k.group + "/" + version + ", Kind=Limit'"
}

// serve creates or updates the definition so that only the given version, v1 or v2, is served. It
// returns when objects of the kind can be created.
func (k limitKind) serve(t *testing.T, scope, version string) {
	t.Helper()
	const anything = `schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}`
	versions := ""
	for _, v := range []string{"v1", "v2"} {
		versions += fmt.Sprintf("\n  - {name: %s, served: %t, storage: %[2]t, %s}", v, v == version, anything)
	}
	definition := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: limits.`+k.group+`}
spec:
  group: `+k.group+`
  names: {kind: Limit, plural: limits}
  scope: `+scope+`
  versions:`+versions)}
	applyDefinition(t, definition)
	namespace := ""
	if scope == "Namespaced" {
		namespace = "default"
	}
	testserver.Eventually(t, func(ctx context.Context) error { return k.put(ctx, t, version, namespace, "probe", 0) })
	testserver.Eventually(t, func(ctx context.Context) error {
		return k.client(t, version, namespace).Delete(ctx, "probe", metav1.DeleteOptions{})
	})
}

// applyDefinition creates or updates a CustomResourceDefinition and deletes it at the end of the
// test.
func applyDefinition(t *testing.T, definition *unstructured.Unstructured) {
	t.Helper()
	client := objects.Resource(definitions)
	testserver.Eventually(t, func(ctx context.Context) error {
		// The deletion of an earlier definition may still be in progress.
		if existing, err := client.Get(ctx, definition.GetName(), metav1.GetOptions{}); err == nil && existing.GetDeletionTimestamp() != nil {
			return fmt.Errorf("%s is being deleted", definition.GetName())
		}
		_, err := client.Apply(ctx, definition.GetName(), definition, metav1.ApplyOptions{FieldManager: "test", Force: true})
		return err
	})
	t.Cleanup(func() {
		testserver.ExpectDeleted(t, client.Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{}))
	})
}

func (k limitKind) remove(t *testing.T) {
	t.Helper()
	testserver.ExpectAdmitted(t, objects.Resource(definitions).Delete(t.Context(), "limits."+k.group, metav1.DeleteOptions{}))
}

func (k limitKind) client(t *testing.T, version, namespace string) dynamic.ResourceInterface {
	t.Helper()
	return objects.Resource(schema.GroupVersionResource{Group: k.group, Version: version, Resource: "limits"}).Namespace(namespace)
}

// put creates or updates a limit.
func (k limitKind) put(ctx context.Context, t *testing.T, version, namespace, name string, limit int64) error {
	t.Helper()
	_, err := k.client(t, version, namespace).Apply(ctx, name, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": k.group + "/" + version,
		"kind":       "Limit",
		"metadata":   map[string]any{"name": name},
		"max":        limit,
	}}, metav1.ApplyOptions{FieldManager: "test", Force: true})
	return err
}

// TestCustomParams checks that a policy follows changes of the definition of its paramKind.
func TestCustomParams(t *testing.T) {
	t.Parallel()
	kind, ns, lenient, ctx := newLimitKind(), admin.Namespace(t, nil), admin.Namespace(t, nil), t.Context()
	policy := writePolicy(t, limited(ns, kind.in("v1"), "Fail", "params.max"))
	by := denier{policy, bind(t, policy, paramRef(t, `name: limit`))}
	ignoring := writePolicy(t, limited(lenient, kind.in("v1"), "Ignore", "params.max"))
	leniently := denier{ignoring, bind(t, ignoring, paramRef(t, `name: limit, namespace: `+ns))}
	settle(t)
	put := func(version, namespace string, limit int64) {
		t.Helper()
		testserver.ExpectAdmitted(t, kind.put(ctx, t, version, namespace, "limit", limit))
	}

	// The message names no binding because the kind of the policy is not served.
	denier{policy: policy}.expectInvalid(t, newConfigMap(t, ns, map[string]string{"size": "1"}), kind.unknown("v1"))
	testserver.ExpectAdmitted(t, newConfigMap(t, lenient, map[string]string{"size": "9"}))

	kind.serve(t, "Namespaced", "v1")
	by.expectLimit(t, ns, "1", noParams)
	put("v1", ns, 3)
	by.expectLimit(t, ns, "3", "")
	by.expectLimit(t, ns, "4", "at most 3 says limit")
	leniently.expectLimit(t, lenient, "4", "at most 3 says limit")
	put("v1", ns, 5)
	by.expectLimit(t, ns, "9", "at most 5 says limit")
	by.expectLimit(t, ns, "4", "")
	testserver.ExpectAdmitted(t, kind.client(t, "v1", ns).Delete(ctx, "limit", metav1.DeleteOptions{}))
	by.expectLimit(t, ns, "1", noParams)

	kind.remove(t)
	denier{policy: policy}.expectLimit(t, ns, "1", kind.unknown("v1"))
	kind.serve(t, "Cluster", "v1")
	put("v1", "", 6)
	by.expectLimit(t, ns, "9", "at most 6 says limit")
	testserver.ExpectAdmitted(t, newConfigMap(t, lenient, map[string]string{"size": "9"}))

	kind.serve(t, "Cluster", "v2")
	denier{policy: policy}.expectLimit(t, ns, "1", kind.unknown("v1"))
	_, err := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Patch(ctx, policy, types.MergePatchType,
		[]byte(`{"spec": {"paramKind": {"apiVersion": "`+kind.group+`/v2"}}}`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	by.expectLimit(t, ns, "9", "at most 6 says limit")
	put("v2", "", 7)
	by.expectLimit(t, ns, "9", "at most 7 says limit")
	by.expectLimit(t, ns, "7", "")
}

// TestParamInformers checks that policies share an informer for their params, which stops when
// the last of them is deleted.
func TestParamInformers(t *testing.T) {
	kind, ns, other := newLimitKind(), admin.Namespace(t, nil), admin.Namespace(t, nil)
	kind.serve(t, "Namespaced", "v1")
	testserver.ExpectAdmitted(t, kind.put(t.Context(), t, "v1", ns, "limit", 3))
	expectWatches := func(want float64) {
		t.Helper()
		testserver.Eventually(t, func(ctx context.Context) error {
			if got, err := watches(ctx, kind.group); got != want || err != nil {
				return fmt.Errorf("%v watches of %s, want %v: %v", got, kind.group, want, err)
			}
			return nil
		})
	}
	remove := func(policy string) {
		t.Helper()
		testserver.ExpectAdmitted(t, policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(t.Context(), policy, metav1.DeleteOptions{}))
		settle(t)
	}
	expectWatches(0)

	first := writePolicy(t, limited(ns, kind.in("v1"), "Fail", "params.max"))
	firstly := denier{first, bind(t, first, paramRef(t, `name: limit`))}
	firstly.expectLimit(t, ns, "4", "at most 3 says limit")
	expectWatches(1)
	remove(first)
	expectWatches(0)

	second, third := writePolicy(t, limited(ns, kind.in("v1"), "Fail", "params.max")), writePolicy(t, limited(other, kind.in("v1"), "Fail", "params.max"))
	secondly := denier{second, bind(t, second, paramRef(t, `name: limit`))}
	thirdly := denier{third, bind(t, third, paramRef(t, `selector: {}, namespace: `+ns))}
	secondly.expectLimit(t, ns, "4", "at most 3 says limit")
	thirdly.expectLimit(t, other, "4", "at most 3 says limit")
	expectWatches(1)
	remove(second)
	testserver.ExpectAdmitted(t, kind.put(t.Context(), t, "v1", ns, "limit", 5))
	thirdly.expectLimit(t, other, "6", "at most 5 says limit")
	expectWatches(1)
	remove(third)
	expectWatches(0)
}

// watches returns the number of watches on resources of an API group that the server serves.
func watches(ctx context.Context, group string) (float64, error) {
	text, err := core.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	metrics := testutil.NewMetrics()
	if err := testutil.ParseMetrics(string(text), &metrics); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, sample := range metrics["apiserver_longrunning_requests"] {
		if string(sample.Metric["group"]) == group {
			sum += float64(sample.Value)
		}
	}
	return sum, nil
}
