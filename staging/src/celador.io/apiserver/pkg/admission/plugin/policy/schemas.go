// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/modelschema"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"

	"celador.io/apiserver/pkg/admission/plugin/typeconverters"
)

// servedSchemas is a policy.Schemas with the schemas of the kinds that a server serves.
type servedSchemas struct {
	isBuiltIn func(schema.GroupVersion) bool
	// builtIn is nil if published has the schemas of built-in kinds, too.
	builtIn   resolver.SchemaResolver
	published policy.Schemas
	// known holds the *modelschema.Schema of built-in kinds, which do not change.
	known sync.Map
}

// Schema implements policy.Schemas.
func (s *servedSchemas) Schema(kind schema.GroupVersionKind) (*modelschema.Schema, error) {
	if s.builtIn == nil || !s.isBuiltIn(kind.GroupVersion()) {
		return s.published.Schema(kind)
	}
	known, ok := s.known.Load(kind)
	if !ok {
		known, _ = s.known.LoadOrStore(kind, modelschema.New(func() (*spec.Schema, error) { return s.builtIn.ResolveSchema(kind) }))
	}
	return known.(*modelschema.Schema), nil
}

// Schemas returns the schemas of the kinds that the server serves, for the scopes of validations.
// It returns nil while the feature ExpressionScopes is off.
func (d *Dependencies) Schemas() policy.Schemas {
	if !d.Features[policyspec.ExpressionScopes] {
		return nil
	}
	published := typeconverters.NewSchemas(d.OpenAPI(), d.IsBuiltIn)
	go published.Run(wait.ContextForChannel(d.Stop))
	return &servedSchemas{isBuiltIn: d.IsBuiltIn, builtIn: d.config.Schemas, published: published}
}
