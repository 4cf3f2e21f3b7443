// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"maps"

	"k8s.io/apiserver/pkg/cel/common"
)

// NewOpenSchema returns the Schema of an OpenAPI schema whose expressions also read what the schema
// leaves open, as JSON values: values without a type, fields that an object preserves without
// declaring them, and the metadata of embedded resources.
func NewOpenSchema(source common.Schema) *Schema { return &Schema{source: source, open: true} }

// dynamic is the Schema of the fields that an open schema does not declare.
var dynamic = func() *Schema {
	s := &Schema{layout: layout{form: schemaDynamic, nullable: true}}
	s.once.Do(func() {}) // It has no source to analyze.
	return s
}()

// PreservesUnknown reports whether objects of an OpenAPI schema may have fields that the schema
// does not declare, because of x-kubernetes-preserve-unknown-fields or additionalProperties: true.
func PreservesUnknown(s common.Schema) bool {
	additional := s.AdditionalProperties()
	return s.IsXPreserveUnknownFields() || additional != nil && additional.Schema() == nil && additional.Allows()
}

// EmbeddedResource returns the schema of an embedded resource with apiVersion, kind and metadata.
// In open schemas, expressions read all of the metadata of the resource, because servers do not
// prune it. Kubernetes' expressions read its name and generateName only.
func EmbeddedResource(s common.Schema) common.Schema { return embedded{s.WithTypeAndObjectMeta()} }

type embedded struct{ common.Schema }

// Properties implements common.Schema.
func (e embedded) Properties() map[string]common.Schema {
	properties := maps.Clone(e.Schema.Properties())
	properties["metadata"] = preserving{properties["metadata"]}
	return properties
}

// preserving is the schema of an object that preserves the fields that it does not declare.
type preserving struct{ common.Schema }

// IsXPreserveUnknownFields implements common.Schema.
func (preserving) IsXPreserveUnknownFields() bool { return true }
