// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"runtime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"

	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

// maxConvertedWrite is the highest time of a write with conversion rules, in times of one with
// strategy None.
const maxConvertedWrite = 1.5

// writtenConverters returns converters between the storage version v1 and the versions v2 and v3 of
// the HTTPRoute of crdtest, with the rules of routeConverters.
func writtenConverters() []v1.Converter {
	converters := routeConverters()
	for _, converter := range routeConverters() {
		switch {
		case converter.FromVersion == "v1":
			converter.ToVersion = "v3"
		default:
			converter.FromVersion = "v3"
		}
		converters = append(converters, converter)
	}
	return converters
}

// convertWrites runs S14b: the cost of creating custom resources that must convert to three served
// versions.
func convertWrites(s *session) error {
	none, err := newWriter(nil)
	if err != nil {
		return err
	}
	defer none.resource.Destroy()
	rules, err := newWriter(writtenConverters())
	if err != nil {
		return err
	}
	defer rules.resource.Destroy()
	for _, version := range []string{"v1", "v2"} {
		about := map[string]string{"v1": "storage version", "v2": "other version"}[version]
		s.progress("S14b: %s", about)
		effort := s.effort
		effort.Rounds, effort.Round = effort.Rounds*16, effort.Round/16
		runtime.GC()
		costs, err := measure.Alternate(effort,
			func() error { return none.create(version) },
			func() error { return rules.create(version) })
		if err != nil {
			return err
		}
		s.Add(report.Row{
			Scenario: "S14b", About: "5 conversion rules, create in the " + about, Unit: report.Times,
			Upstream: 1, Celador: costs[1].Nanoseconds / costs[0].Nanoseconds,
			Target: report.Target{Max: new(maxConvertedWrite)},
			Note: fmt.Sprintf("in times of strategy None; None %.1f µs and %.0f allocs, rules %.1f µs and %.0f allocs",
				costs[0].Nanoseconds/1000, costs[0].Allocations, costs[1].Nanoseconds/1000, costs[1].Allocations),
		})
	}
	return nil
}

// A writer creates custom resources of three versions in a storage that encodes and decodes them,
// but does not keep them.
type writer struct{ resource *serving.Resource }

// newWriter returns a writer of HTTPRoutes that are converted with the converters, or with strategy
// None without any.
func newWriter(converters []v1.Converter) (*writer, error) {
	resource, err := buildRoutes(forgetful{}, converters, "v1", "v2", "v3")
	if err != nil {
		return nil, err
	}
	return &writer{resource}, nil
}

// create creates an object in a version, as a server does after it has decoded and admitted the
// request.
func (w *writer) create(version string) error {
	ctx := request.WithRequestInfo(request.WithNamespace(context.Background(), "default"), &request.RequestInfo{APIGroup: "example.com", APIVersion: version, Resource: "httproutes"})
	created, err := w.resource.Version(version).Storage.CustomResource.Create(ctx, crdtest.HTTPRouteObject(version), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if got := created.GetObjectKind().GroupVersionKind().Version; got != version {
		return fmt.Errorf("the object has version %s", got)
	}
	return nil
}

// forgetful is a RESTOptionsGetter whose storages encode and decode what is created.
type forgetful struct{}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (forgetful) GetRESTOptions(resource schema.GroupResource, _ apiruntime.Object) (generic.RESTOptions, error) {
	config := storagebackend.Config{Codec: unstructured.UnstructuredJSONScheme}
	return generic.RESTOptions{
		StorageConfig: config.ForResource(resource),
		Decorator: func(config *storagebackend.ConfigForResource, _ string, _ func(apiruntime.Object) (string, error), _, _ func() apiruntime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return forgetfulStorage{codec: config.Codec}, func() {}, nil
		},
		ResourcePrefix: resource.Group + "/" + resource.Resource,
	}, nil
}

type forgetfulStorage struct {
	storage.Interface
	codec apiruntime.Codec
}

func (forgetfulStorage) ReadinessCheck() error { return nil }

func (forgetfulStorage) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (s forgetfulStorage) Create(_ context.Context, _ string, object, out apiruntime.Object, _ uint64) error {
	stored, err := apiruntime.Encode(s.codec, object)
	if err != nil {
		return err
	}
	_, _, err = s.codec.Decode(stored, nil, out)
	return err
}
