// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/tools/cache"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
	"celador.io/apiextensions-apiserver/pkg/features"

	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

const (
	// listed is the number of objects in the list of scenario S14.
	listed = 1000
	// maxConversion is the target of scenario S14: the time of a read with conversion rules,
	// divided by the time of a read with strategy None, must not be larger.
	maxConversion = 1.3
)

// routeConverters returns converters between the versions v1 and v2 of crdtest.HTTPRoute. The
// converter from v1 to v2 has five rules, two of which set a field in every item of a list. The
// other converter has none.
func routeConverters() []v1.Converter {
	return []v1.Converter{
		{FromVersion: "v1", ToVersion: "v2", Rules: []v1.ConversionRule{
			{Field: "spec.hostnames", Rule: "has(self.spec.hostnames) ? self.spec.hostnames.map(h, h.lowerAscii()) : null"},
			{Field: "metadata.annotations['example.com/gateway']", Rule: "self.spec.parentRefs[0].name"},
			{Field: "metadata.labels['example.com/stored']", Rule: "'v1'"},
			{Scope: "spec.rules[*]", Field: "name", Rule: "has(self.name) ? self.name.lowerAscii() : 'unnamed'"},
			{Scope: "spec.rules[*]", Field: "timeouts.request", Rule: "has(self.timeouts) && has(self.timeouts.request) ? self.timeouts.request : '30s'"},
		}},
		{FromVersion: "v2", ToVersion: "v1"},
	}
}

// convert runs scenario S14: the cost of reading custom resources in a version other than the
// stored one.
func convert(s *session) error {
	none, err := routeReader(nil)
	if err != nil {
		return err
	}
	rules, err := routeReader(routeConverters())
	if err != nil {
		return err
	}
	for _, read := range []struct {
		about   string
		objects int
	}{{"one object", 1}, {"list of 1,000", listed}} {
		if err := s.addConversion("S14", read.about, maxConversion, read.objects,
			func() error { return none.read(read.objects) },
			func() error { return rules.read(read.objects) }); err != nil {
			return err
		}
	}
	return nil
}

// addConversion measures two functions, which handle the given number of objects with strategy None
// and with conversion rules, and adds a row. limit is the target for the time with rules, divided
// by the time without.
func (s *session) addConversion(id, about string, limit float64, objects int, none, rules func() error) error {
	s.progress("%s: %s", id, about)
	effort := s.effort
	if objects == 1 {
		// The times differ by less than the noise: a garbage collection in a long round may slow
		// down one side only. So there are many short rounds.
		effort.Rounds, effort.Round = effort.Rounds*16, effort.Round/16
	}
	costs, err := measure.Alternate(effort, none, rules)
	if err != nil {
		return err
	}
	each := func(cost measure.Cost) string {
		return fmt.Sprintf("%.1f µs and %.0f allocs", cost.Nanoseconds/1000/float64(objects), cost.Allocations/float64(objects))
	}
	s.Add(report.Row{
		Scenario: id, About: "5 conversion rules, " + about, Unit: report.Times,
		Upstream: 1, Celador: costs[1].Nanoseconds / costs[0].Nanoseconds,
		Target: report.Target{Max: &limit},
		Note:   fmt.Sprintf("in times of strategy None; None %s, rules %s for each object", each(costs[0]), each(costs[1])),
	})
	return nil
}

// A reader reads custom resources in v2 that are stored in v1. It does what a server does with what
// it reads from etcd before it responds: it decodes, coerces, defaults, converts and encodes them.
type reader struct {
	stored []byte
	codec  apiruntime.Codec
	// version is the version of the objects that the codec decodes.
	version string
	// converter converts the decoded objects to v2. It is nil if the codec does so itself, as it
	// does with strategy None.
	converter apiruntime.ObjectConvertor
}

// buildRoutes builds what a server has for HTTPRoutes with the given versions, the first of which
// is stored. Objects are converted by the converters or, if these are nil, with strategy None.
// codecs are the codecs of the resource's storages. The caller must destroy the resource.
func buildRoutes(converters []v1.Converter, versions ...string) (_ *serving.ServedResource, codecs []apiruntime.Codec, err error) {
	crd := crdtest.HTTPRoute(versions...)
	var expressions *apiextensions.ExpressionFields
	if converters != nil {
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(features.CustomResourceConversionRules): true}); err != nil {
			return nil, nil, err
		}
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.ConversionStrategyType(v1.ConversionRules)}
		expressions = &apiextensions.ExpressionFields{ConversionRules: true, Converters: converters}
	}
	factory, err := conversion.NewCRConverterFactory(nil, nil)
	if err != nil {
		return nil, nil, err
	}
	opened := &storages{}
	builder := &serving.Builder{RESTOptions: opened, Converters: factory}
	resource, err := builder.Build(context.Background(), crd, expressions)
	return resource, opened.codecs, err
}

// routeReader returns a reader of HTTPRoutes. Objects are converted by the converters or, if these
// are nil, with strategy None.
func routeReader(converters []v1.Converter) (*reader, error) {
	versions := []string{"v1", "v2"}
	resource, codecs, err := buildRoutes(converters, versions...)
	if err != nil {
		return nil, err
	}
	defer resource.Destroy()
	// With strategy None, each version has a storage with its own codec. With rules, the versions
	// share the storage of v1, so there is one codec, and objects are converted when they are
	// served.
	want := len(versions)
	if converters != nil {
		want = 1
	}
	if len(codecs) != want {
		return nil, fmt.Errorf("%d codecs of two versions, want %d", len(codecs), want)
	}
	stored, err := apiruntime.Encode(unstructured.UnstructuredJSONScheme, crdtest.HTTPRouteObject("v1"))
	if err != nil {
		return nil, err
	}
	r := &reader{stored: stored, codec: codecs[want-1], version: versions[want-1]}
	if converters != nil {
		r.converter = resource.Version("v2").Scope.UnsafeConvertor
	}
	return r, r.check(converters != nil)
}

// check returns an error unless the reader returns objects in v2, converted by rules if rules is
// set, so that nothing else is measured. One of the rules adds a label, which shows whether they
// were applied.
func (r *reader) check(rules bool) error {
	object, err := r.decode("HTTPRoute")
	if err != nil {
		return err
	}
	if version := object.GroupVersionKind().Version; version != "v2" {
		return fmt.Errorf("the object has version %s", version)
	}
	if (object.GetLabels()["example.com/stored"] == "v1") != rules {
		return errors.New("the rules have no effect, or those of another definition")
	}
	return nil
}

// decode decodes a stored object as the storage layer does, and converts it to v2. kind is the kind
// that the storage layer passes to the codec: that of a single object, and an empty one for an item
// of a list.
func (r *reader) decode(kind string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/" + r.version}}
	if kind != "" {
		u.SetKind(kind)
	}
	if _, _, err := r.codec.Decode(r.stored, nil, u); err != nil {
		return nil, err
	}
	if r.converter == nil {
		return u, nil
	}
	converted, err := r.converter.ConvertToVersion(u, schema.GroupVersion{Group: "example.com", Version: "v2"})
	if err != nil {
		return nil, err
	}
	return converted.(*unstructured.Unstructured), nil
}

// read decodes the given number of objects and encodes them, in a list if there are several.
func (r *reader) read(objects int) error {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "example.com/v2", "kind": "HTTPRouteList"}}
	kind := ""
	if objects == 1 {
		kind = "HTTPRoute"
	}
	for range objects {
		object, err := r.decode(kind)
		if err != nil {
			return err
		}
		if objects == 1 {
			return unstructured.UnstructuredJSONScheme.Encode(object, io.Discard)
		}
		list.Items = append(list.Items, *object)
	}
	return unstructured.UnstructuredJSONScheme.Encode(list, io.Discard)
}

// storages is a RESTOptionsGetter. Its storages encode and decode the objects that are created, and
// keep nothing. It collects the codecs of the storages, in the order of the versions, so that a
// reader can decode with them.
type storages struct{ codecs []apiruntime.Codec }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (s *storages) GetRESTOptions(resource schema.GroupResource, _ apiruntime.Object) (generic.RESTOptions, error) {
	config := storagebackend.Config{Codec: unstructured.UnstructuredJSONScheme}
	return generic.RESTOptions{
		StorageConfig:  config.ForResource(resource),
		Decorator:      s.decorate,
		ResourcePrefix: resource.Group + "/" + resource.Resource,
	}, nil
}

func (s *storages) decorate(config *storagebackend.ConfigForResource, _ string, _ func(apiruntime.Object) (string, error), _, _ func() apiruntime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
	s.codecs = append(s.codecs, config.Codec)
	return forgetful{codec: config.Codec}, func() {}, nil
}

// forgetful is a storage that does not keep the objects that are created. It has only the methods
// that opening a storage and creating an object need.
type forgetful struct {
	storage.Interface
	codec apiruntime.Codec
}

func (forgetful) ReadinessCheck() error { return nil }

func (forgetful) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (s forgetful) Create(_ context.Context, _ string, object, out apiruntime.Object, _ uint64) error {
	stored, err := apiruntime.Encode(s.codec, object)
	if err != nil {
		return err
	}
	_, _, err = s.codec.Decode(stored, nil, out)
	return err
}
