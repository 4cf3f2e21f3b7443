// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/values"
)

// NewOpenSchema returns the Schema of an OpenAPI schema whose values have the types of
// OpenDeclType: what the schema leaves open is dynamic. The schema must not change afterwards.
func NewOpenSchema(schema common.Schema) *Schema { return &Schema{values.NewOpenSchema(schema)} }

// OpenDeclType returns the type of the values of an OpenAPI schema, for expressions that also read
// what the schema leaves open. In addition to the fields that common.SchemaDeclType declares,
//
//   - values whose schema has no type are dynamic,
//   - objects whose schema declares no fields and preserves unknown ones are maps of dynamic
//     values,
//   - fields that an object preserves and does not declare are dynamic,
//   - so are the fields of the metadata of embedded resources, apart from name and generateName.
//
// isResourceRoot is set for the root of a custom resource and of an embedded resource. OpenDeclType
// returns nil if expressions cannot read the values.
func OpenDeclType(schema common.Schema, isResourceRoot bool) *apiservercel.DeclType {
	declared := common.SchemaDeclType(openSchema{schema}, isResourceRoot)
	markOpen(declared, schema, isResourceRoot)
	return declared
}

// LeavesOpen reports whether the objects of a type that OpenDeclType returned have fields that the
// type does not declare.
func LeavesOpen(t *apiservercel.DeclType) bool { return t.Metadata[unknownFields] != "" }

// unknownFields is the key of the metadata of types that leave fields open.
const unknownFields = "x-kubernetes-preserve-unknown-fields"

// markOpen marks the object types of a schema that leave fields open.
func markOpen(t *apiservercel.DeclType, s common.Schema, isResourceRoot bool) {
	switch {
	case t == nil:
	case t.IsList():
		markOpen(t.ElemType, s.Items(), s.Items().IsXEmbeddedResource())
	case t.IsMap():
		if values := s.AdditionalProperties(); values != nil && values.Schema() != nil {
			markOpen(t.ElemType, values.Schema(), values.Schema().IsXEmbeddedResource())
		}
	case t.IsObject():
		if values.PreservesUnknown(s) {
			t.Metadata = map[string]string{unknownFields: "true"}
		}
		if isResourceRoot {
			s = withTypeAndMetadata(s)
		}
		for name, property := range s.Properties() {
			escaped, ok := apiservercel.Escape(name)
			if !ok {
				continue
			}
			if field, ok := t.Fields[escaped]; ok {
				markOpen(field.Type, property, property.IsXEmbeddedResource())
			}
		}
	}
}

// withTypeAndMetadata returns the schema of a resource with apiVersion, kind and metadata.
func withTypeAndMetadata(s common.Schema) common.Schema {
	if s.IsXEmbeddedResource() {
		return values.EmbeddedResource(s)
	}
	return s.WithTypeAndObjectMeta()
}

// openSchema wraps a schema for common.SchemaDeclType so that open values get the dynamic type.
// That function gives the dynamic type only to schemas with x-kubernetes-int-or-string, so
// openSchema claims to be one of those.
type openSchema struct{ common.Schema }

// IsXIntOrString implements common.Schema.
func (o openSchema) IsXIntOrString() bool { return o.Schema.IsXIntOrString() || o.Type() == "" }

// Items implements common.Schema.
func (o openSchema) Items() common.Schema {
	if items := o.Schema.Items(); items != nil {
		return openSchema{items}
	}
	return nil
}

// Properties implements common.Schema.
func (o openSchema) Properties() map[string]common.Schema {
	declared := o.Schema.Properties()
	properties := make(map[string]common.Schema, len(declared))
	for name, property := range declared {
		properties[name] = openSchema{property}
	}
	return properties
}

// AdditionalProperties implements common.Schema.
func (o openSchema) AdditionalProperties() common.SchemaOrBool {
	additional := o.Schema.AdditionalProperties()
	switch {
	case additional != nil && additional.Schema() != nil:
		return openValues{additional.Schema()}
	case len(o.Schema.Properties()) == 0 && values.PreservesUnknown(o.Schema):
		return openValues{anyValue(o)}
	default:
		return nil
	}
}

// WithTypeAndObjectMeta implements common.Schema.
func (o openSchema) WithTypeAndObjectMeta() common.Schema {
	return openSchema{withTypeAndMetadata(o.Schema)}
}

// openValues is the additionalProperties of an openSchema.
type openValues struct{ values common.Schema }

// Schema implements common.SchemaOrBool.
func (o openValues) Schema() common.Schema { return openSchema{o.values} }

// Allows implements common.SchemaOrBool.
func (openValues) Allows() bool { return true }

// anyValue is the schema of a value of any type. It has no limits.
type anyValue struct{ common.Schema }

// Type implements common.Schema.
func (anyValue) Type() string { return "" }

// MaxLength implements common.Schema.
func (anyValue) MaxLength() *int64 { return nil }

// IsXEmbeddedResource implements common.Schema.
func (anyValue) IsXEmbeddedResource() bool { return false }

// openProvider resolves the fields that open types do not declare, as dynamic values.
type openProvider struct{ *apiservercel.DeclTypeProvider }

// FindStructFieldType implements types.Provider.
func (p openProvider) FindStructFieldType(typeName, fieldName string) (*types.FieldType, bool) {
	if field, ok := p.DeclTypeProvider.FindStructFieldType(typeName, fieldName); ok {
		return field, true
	}
	if declared, ok := p.FindDeclType(typeName); ok && LeavesOpen(declared) {
		return &types.FieldType{Type: types.DynType}, true
	}
	return nil, false
}
