// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// maxConvertedWrite is the target of scenario S14b: the time of a write with conversion rules,
// divided by the time of a write with strategy None, must not be larger.
const maxConvertedWrite = 1.5

// writtenConverters returns converters between the stored version v1 of crdtest.HTTPRoute and the
// versions v2 and v3, in both directions, with the rules of routeConverters.
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

// convertWrites runs scenario S14b: the cost of creating a custom resource with three served
// versions, to each of which every object must be convertible.
func convertWrites(s *session) error {
	none, err := writtenRoutes(nil)
	if err != nil {
		return err
	}
	defer none.Destroy()
	rules, err := writtenRoutes(writtenConverters())
	if err != nil {
		return err
	}
	defer rules.Destroy()
	for _, write := range []struct{ version, about string }{{"v1", "storage version"}, {"v2", "other version"}} {
		if err := s.addConversion("S14b", "create in the "+write.about, maxConvertedWrite, 1,
			func() error { return createRoute(none, write.version) },
			func() error { return createRoute(rules, write.version) }); err != nil {
			return err
		}
	}
	return nil
}

// writtenRoutes returns a resource of HTTPRoutes with three versions. Objects are converted by the
// converters or, if these are nil, with strategy None. The storage encodes and decodes objects, but
// does not keep them.
func writtenRoutes(converters []v1.Converter) (*serving.ServedResource, error) {
	resource, _, err := buildRoutes(converters, "v1", "v2", "v3")
	return resource, err
}

// createRoute creates an object in the given version, as a server does after it has decoded and
// admitted a request.
func createRoute(resource *serving.ServedResource, version string) error {
	ctx := request.WithRequestInfo(request.WithNamespace(context.Background(), "default"), &request.RequestInfo{APIGroup: "example.com", APIVersion: version, Resource: "httproutes"})
	created, err := resource.Version(version).Storage.CustomResource.Create(ctx, crdtest.HTTPRouteObject(version), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if got := created.GetObjectKind().GroupVersionKind().Version; got != version {
		return fmt.Errorf("the object has version %s", got)
	}
	return nil
}
