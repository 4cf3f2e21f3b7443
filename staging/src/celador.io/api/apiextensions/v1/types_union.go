// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// JSON is any JSON value.
type JSON struct {
	// Raw is the value's JSON, or empty for null.
	Raw []byte `json:"-" protobuf:"bytes,1,opt,name=raw"`
}

// JSONSchemaPropsOrArray is the schema of a list's items, or a list of schemas, one
// for each item. In schemas of custom resources it must be one schema.
type JSONSchemaPropsOrArray struct {
	// Schema is the schema of every item.
	Schema *JSONSchemaProps `protobuf:"bytes,1,opt,name=schema"`

	// JSONSchemas are the schemas of the items. If it is not empty, Schema is ignored.
	// +listType=atomic
	JSONSchemas []JSONSchemaProps `protobuf:"bytes,2,rep,name=jSONSchemas"`
}

// JSONSchemaPropsOrBool is the schema of values that the other keywords do not
// define, such as the values of a map, or a boolean that allows or forbids all such
// values.
type JSONSchemaPropsOrBool struct {
	// Allows is the boolean. It is ignored, and true by convention, if Schema is set.
	Allows bool `protobuf:"varint,1,opt,name=allows"`

	// Schema is the schema.
	Schema *JSONSchemaProps `protobuf:"bytes,2,opt,name=schema"`
}

// JSONSchemaPropsOrStringArray is a schema, or the names of fields.
type JSONSchemaPropsOrStringArray struct {
	// Schema is the schema that an object must be valid for.
	Schema *JSONSchemaProps `protobuf:"bytes,1,opt,name=schema"`

	// Property are the fields that an object must have. If it is not empty, Schema is
	// ignored.
	// +listType=atomic
	Property []string `protobuf:"bytes,2,rep,name=property"`
}

// The OpenAPI models of these types have neither a type nor a format, since OpenAPI
// v2 has no unions.

// OpenAPISchemaType returns nil: the value may have any type.
func (JSON) OpenAPISchemaType() []string { return nil }

// OpenAPISchemaFormat returns the empty string: the value has no format.
func (JSON) OpenAPISchemaFormat() string { return "" }

// OpenAPISchemaType returns nil: the value is an object or a list.
func (JSONSchemaPropsOrArray) OpenAPISchemaType() []string { return nil }

// OpenAPISchemaFormat returns the empty string: the value has no format.
func (JSONSchemaPropsOrArray) OpenAPISchemaFormat() string { return "" }

// OpenAPISchemaType returns nil: the value is an object or a boolean.
func (JSONSchemaPropsOrBool) OpenAPISchemaType() []string { return nil }

// OpenAPISchemaFormat returns the empty string: the value has no format.
func (JSONSchemaPropsOrBool) OpenAPISchemaFormat() string { return "" }

// OpenAPISchemaType returns nil: the value is an object or a list.
func (JSONSchemaPropsOrStringArray) OpenAPISchemaType() []string { return nil }

// OpenAPISchemaFormat returns the empty string: the value has no format.
func (JSONSchemaPropsOrStringArray) OpenAPISchemaFormat() string { return "" }
