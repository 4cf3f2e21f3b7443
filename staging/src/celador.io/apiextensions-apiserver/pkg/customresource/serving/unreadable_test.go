// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// watched is a RESTOptionsGetter whose storages can only be watched. They have objects in v1, of
// which one has no spec. It is written once more after the initial events.
type watched struct{ storage.Interface }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (w watched) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.Config{Codec: unstructured.UnstructuredJSONScheme}
	return generic.RESTOptions{
		StorageConfig: config.ForResource(resource), ResourcePrefix: resource.Resource,
		Decorator: func(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return w, func() {}, nil
		},
	}, nil
}

// ReadinessCheck implements storage.Interface.
func (watched) ReadinessCheck() error { return nil }

// Watch implements storage.Interface.
func (watched) Watch(ctx context.Context, _ string, _ storage.ListOptions) (watch.Interface, error) {
	events := watch.NewRaceFreeFake()
	context.AfterFunc(ctx, events.Stop)
	var withoutSpec *unstructured.Unstructured
	for i := range 3 {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"size": int64(i)}}}
		if i == 0 {
			delete(u.Object, "spec")
			withoutSpec = u
		}
		u.SetUID(types.UID(fmt.Sprint(i)))
		events.Add(u)
	}
	events.Action(watch.Bookmark, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}})
	events.Modify(withoutSpec)
	return events, nil
}

// Objects that do not convert are counted, unless rules are not evaluated: then none converts, and
// there is nothing to report. Without rules, a count is reported as well, for definitions that had
// rules before. A count is reported once.
func TestCountOfUnreadableObjects(t *testing.T) {
	for name, test := range map[string]struct {
		rules, gate bool
		reports     int
		want        map[string]int
	}{
		"rules":              {rules: true, gate: true, reports: 1, want: map[string]int{"v2": 1}},
		"rules and gate off": {rules: true},
		"no rules":           {gate: true, reports: 1},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, test.gate)
			integer := map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}
			crd := crdtest.New(crdtest.Stored(crdtest.Version("v1", integer)), crdtest.Version("v2", integer))
			var expressions *apiextensions.ExpressionFields
			if test.rules {
				crd.Spec.Conversion.Strategy = "ConversionRules"
				expressions = &apiextensions.ExpressionFields{ConversionRules: true, Converters: []v1.Converter{
					{FromVersion: "v1", ToVersion: "v2", Rules: []v1.ConversionRule{{Field: "spec.size", Rule: "self.spec.size"}}},
					{FromVersion: "v2", ToVersion: "v1"},
				}}
			}
			synctest.Test(t, func(t *testing.T) {
				builder := newBuilder(t, nil)
				builder.RESTOptions = watched{}
				reports := 0
				builder.Unreadable = func(_ *apiextensionsv1.CustomResourceDefinition, counts map[string]int) {
					reports++
					if !maps.Equal(counts, test.want) {
						t.Errorf("got counts %v, want %v", counts, test.want)
					}
				}
				resource, err := builder.Build(t.Context(), crd, expressions)
				if err != nil {
					t.Fatal(err)
				}
				defer resource.Destroy()
				time.Sleep(time.Minute)
				synctest.Wait()
				if reports != test.reports {
					t.Errorf("reported %d times, want %d", reports, test.reports)
				}
			})
		})
	}
}
