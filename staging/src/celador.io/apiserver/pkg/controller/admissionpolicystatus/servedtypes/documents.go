// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/modelschema"
)

// documents resolves schemas from the OpenAPI documents of a server. Unlike those of
// resolver.ClientDiscoveryResolver, the schemas keep the names of models (package modelschema), on
// which the scopes of validations depend.
type documents struct{ client discovery.DiscoveryInterface }

// ResolveSchema implements resolver.SchemaResolver.
func (d documents) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	paths, err := d.client.OpenAPIV3().Paths()
	if err != nil {
		return nil, err
	}
	path := "apis/" + kind.GroupVersion().String()
	if kind.Group == "" {
		path = "api/" + kind.Version
	}
	published, ok := paths[path]
	if !ok {
		return nil, fmt.Errorf("cannot resolve group version %q: %w", kind.GroupVersion(), resolver.ErrSchemaNotFound)
	}
	text, err := published.Schema(runtime.ContentTypeJSON)
	if err != nil {
		return nil, err
	}
	models, err := modelschema.Parse(text)
	if err != nil {
		return nil, err
	}
	name, ok := models.Kinds(kind.GroupVersion())[kind.Kind]
	if !ok {
		return nil, fmt.Errorf("cannot resolve group version kind %q: %w", kind, resolver.ErrSchemaNotFound)
	}
	return models.Resolve(name)
}
