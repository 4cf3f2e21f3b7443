// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"celador.io/admission/modelschema"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"

	"celador.io/apiserver/pkg/admission/plugin/typeconverters"
)

// servedSchemas is a policy.Schemas with the schemas of the kinds that a server serves.
type servedSchemas struct {
	isBuiltIn          func(schema.GroupVersion) bool
	builtIn, published policy.Schemas
}

// Schema implements policy.Schemas.
func (s servedSchemas) Schema(kind schema.GroupVersionKind) (*modelschema.Schema, error) {
	if s.isBuiltIn(kind.GroupVersion()) {
		return s.builtIn.Schema(kind)
	}
	return s.published.Schema(kind)
}

// Schemas returns the schemas of the kinds that the server serves, for the scopes of validations.
// It returns nil while the feature ExpressionScopes is off.
func (d *Dependencies) Schemas() policy.Schemas {
	if !d.Features[policyspec.ExpressionScopes] {
		return nil
	}
	published := typeconverters.NewSchemas(d.OpenAPI(), d.IsBuiltIn)
	go published.Run(wait.ContextForChannel(d.Stop))
	if d.config.Schemas == nil {
		return published
	}
	return servedSchemas{d.IsBuiltIn, modelschema.NewCache(d.config.Schemas), published}
}
