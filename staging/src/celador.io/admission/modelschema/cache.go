// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package modelschema

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// A Cache holds a Schema for each kind whose schema does not change, such as a built-in kind, so
// that the number of the Schema stays the same. It keeps no resolved schema. It implements
// policy.Schemas. Safe for concurrent use if its resolver is.
type Cache struct {
	resolver resolver.SchemaResolver
	known    sync.Map // schema.GroupVersionKind -> *Schema
}

// NewCache returns a Cache of the schemas that r resolves.
func NewCache(r resolver.SchemaResolver) *Cache { return &Cache{resolver: r} }

// Schema returns the Schema of a kind. The error is always nil: Schema.Resolve returns the error of
// a kind that is not known.
func (c *Cache) Schema(kind schema.GroupVersionKind) (*Schema, error) {
	known, ok := c.known.Load(kind)
	if !ok {
		known, _ = c.known.LoadOrStore(kind, New(func() (*spec.Schema, error) { return c.resolver.ResolveSchema(kind) }))
	}
	return known.(*Schema), nil
}
