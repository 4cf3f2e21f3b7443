// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// BenchmarkMemory prints what the heap of the whole server holds before, with and after 500
// policies on a custom resource of 10,000 properties. The cache that clients watch keeps the
// last hundred changes of definitions, which is most of what stays: -memprofile tells whose
// the rest is.
func BenchmarkMemory(b *testing.B) {
	crds := definitions.ApiextensionsV1().CustomResourceDefinitions()
	client := policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	eventually := func(condition wait.ConditionWithContextFunc) {
		b.Helper()
		if err := wait.PollUntilContextTimeout(b.Context(), time.Second, 5*time.Minute, true, condition); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		before := heap()
		group := testserver.UniqueName("memory") + ".example.com"
		properties := map[string]apiextensionsv1.JSONSchemaProps{}
		for i := range 10_000 {
			properties[fmt.Sprintf("field%06d", i)] = apiextensionsv1.JSONSchemaProps{Type: "integer"}
		}
		definition := &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: group, Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget", Plural: "widgets"},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", Properties: properties}},
					}},
				}},
			},
		}
		if _, err := crds.Create(b.Context(), definition, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
		for i := range 500 {
			policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", group, i)}}
			policy.Spec.MatchConstraints = &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
				Operations: []v1.OperationType{v1.Create},
				Rule:       v1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{"widgets"}},
			}}}}
			policy.Spec.Validations = []v1.Validation{{Expression: fmt.Sprintf("object.spec.field%06d < %d", i, i)}}
			if _, err := client.Create(b.Context(), policy, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		eventually(func(ctx context.Context) (bool, error) {
			list, err := client.List(ctx, metav1.ListOptions{})
			fitting := 0
			for i := range list.Items {
				if fits(list.Items[i].Status) == nil {
					fitting++
				}
			}
			return fitting == 500, err
		})
		with := heap()
		if err := crds.Delete(b.Context(), definition.Name, metav1.DeleteOptions{}); err != nil {
			b.Fatal(err)
		}
		eventually(func(ctx context.Context) (bool, error) {
			_, err := crds.Get(ctx, definition.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return false, err
		})
		if err := client.DeleteCollection(b.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			b.Fatal(err)
		}
		eventually(func(ctx context.Context) (bool, error) {
			list, err := client.List(ctx, metav1.ListOptions{})
			return len(list.Items) == 0, err
		})
		b.ReportMetric(before, "MB-before")
		b.ReportMetric(with, "MB-with")
		b.ReportMetric(heap(), "MB-after")
	}
}

// heap returns how much of the heap is in use.
func heap() float64 {
	for range 3 { // a sync.Pool keeps objects for one more collection
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc) / (1 << 20)
}
