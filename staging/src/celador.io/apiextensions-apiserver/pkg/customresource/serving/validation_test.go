// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/component-base/metrics/legacyregistry"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
)

// TestFirstWrite covers that reading custom resources compiles no validation rules, and that the
// first write of each version is validated by them.
func TestFirstWrite(t *testing.T) {
	before := compilations(t)
	resource := build(t, &crdtest.Storage{}, crdtest.HTTPRoute("v1", "v2"))
	ctx := request.WithRequestInfo(request.WithNamespace(t.Context(), "default"), &request.RequestInfo{})
	if _, err := resource.Version("v1").Storage.CustomResource.Get(ctx, "shop", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("got error %v, want NotFound", err)
	}
	if got := compilations(t); got != before {
		t.Errorf("reading compiled the rules of %d nodes", got-before)
	}
	for _, version := range []string{"v1", "v2"} {
		object := crdtest.HTTPRouteObject(version)
		create := func() error {
			_, err := resource.Version(version).Storage.CustomResource.Create(ctx, object.DeepCopy(), rest.ValidateAllObjectFunc, &metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}
		if err := create(); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		parents, _, _ := unstructured.NestedSlice(object.Object, "spec", "parentRefs")
		if err := unstructured.SetNestedSlice(object.Object, append(parents, parents[0]), "spec", "parentRefs"); err != nil {
			t.Fatal(err)
		}
		if err := create(); !apierrors.IsInvalid(err) {
			t.Errorf("%s: got error %v for equal parents, want Invalid", version, err)
		}
	}
	if compilations(t) == before {
		t.Error("writing compiled no rules")
	}
}

// compilations returns how often rules have been compiled in this process.
func compilations(t *testing.T) uint64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "apiserver_cel_compilation_duration_seconds" {
			return family.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	t.Fatal("there is no metric of compilations")
	return 0
}
