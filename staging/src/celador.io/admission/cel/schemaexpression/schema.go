// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/values"
)

// A Schema describes how expressions read unstructured values. Constructing a Schema is cheap, but
// reading values analyzes the parts of the schema that are read, so callers construct one Schema
// for each schema and keep it. A Schema is safe for concurrent use.
type Schema struct{ schema *values.Schema }

// NewSchema returns the Schema of an OpenAPI schema, which must not change afterwards. The schema
// of the root of a resource must declare the fields of metadata that expressions may read, see
// common.Schema.WithTypeAndObjectMeta.
func NewSchema(schema common.Schema) *Schema { return &Schema{values.NewSchema(schema)} }

// Value returns the CEL value of an unstructured value that the schema describes. The value must
// not change while the CEL value is in use. Value is safe for concurrent use; the returned value is
// not.
func Value(unstructured any, schema *Schema) ref.Val {
	return schema.schema.Value(unstructured)
}
