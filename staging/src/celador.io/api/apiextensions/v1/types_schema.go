// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// JSONSchemaProps is a schema: JSON Schema (draft 4, https://json-schema.org) as
// OpenAPI v3.0 uses it, with Kubernetes' extensions. In schemas of custom resources,
// some keywords must not be set: id, $schema, $ref, patternProperties, dependencies,
// additionalItems and definitions.
type JSONSchemaProps struct {
	// id is the URI of the schema. Must not be set.
	ID string `json:"id,omitempty" protobuf:"bytes,1,opt,name=id"`

	// $schema is the URI of the meta-schema. Must not be set.
	Schema JSONSchemaURL `json:"$schema,omitempty" protobuf:"bytes,2,opt,name=schema"`

	// $ref is the URI of a schema to use instead. Must not be set.
	Ref *string `json:"$ref,omitempty" protobuf:"bytes,3,opt,name=ref"`

	// description explains the value to users, for instance in 'kubectl explain'.
	Description string `json:"description,omitempty" protobuf:"bytes,4,opt,name=description"`

	// type is the type of the value: array, boolean, integer, number, object or
	// string. Structural schemas require it, except with
	// x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields.
	Type string `json:"type,omitempty" protobuf:"bytes,5,opt,name=type"`

	// format restricts the value further. Values of an unknown format are not
	// restricted. These formats are validated:
	//
	// - byte: base64 data.
	//
	// - date: '2026-01-02', full-date of RFC 3339.
	//
	// - datetime: '2026-01-02T15:04:05.000Z', date-time of RFC 3339.
	//
	// - duration: '1h30m', as Go parses durations, or in words such as '22 ns'.
	//
	// - uri, email, hostname, ipv4, ipv6, cidr, mac: what Go's standard library
	// parses; hostname as in RFC 1034.
	//
	// - uuid, uuid3, uuid4, uuid5: UUIDs, of the version that the name has, in lower
	// or upper case, with or without hyphens.
	//
	// - isbn, isbn10, isbn13: book numbers.
	//
	// - hexcolor: '#ffffff', '#fff'.
	//
	// - rgbcolor: 'rgb(255,255,255)'.
	//
	// - bsonobjectid: 24 hexadecimal digits.
	//
	// - creditcard: numbers of the major card issuers.
	//
	// - ssn: U.S. social security numbers.
	//
	// - password: any string. Clients should hide it.
	//
	// - k8s-short-name, k8s-long-name: names of Kubernetes objects, DNS labels and DNS
	// subdomains in lower case.
	Format string `json:"format,omitempty" protobuf:"bytes,6,opt,name=format"`

	// title is a short name of the value for users.
	Title string `json:"title,omitempty" protobuf:"bytes,7,opt,name=title"`

	// default is the value of the field in objects that lack it. The API server sets it
	// in requests and in stored objects that it reads. It must be valid for the schema.
	Default *JSON `json:"default,omitempty" protobuf:"bytes,8,opt,name=default"`

	// maximum is the largest number allowed.
	Maximum *float64 `json:"maximum,omitempty" protobuf:"bytes,9,opt,name=maximum"`

	// exclusiveMaximum excludes maximum itself.
	ExclusiveMaximum bool `json:"exclusiveMaximum,omitempty" protobuf:"bytes,10,opt,name=exclusiveMaximum"`

	// minimum is the smallest number allowed.
	Minimum *float64 `json:"minimum,omitempty" protobuf:"bytes,11,opt,name=minimum"`

	// exclusiveMinimum excludes minimum itself.
	ExclusiveMinimum bool `json:"exclusiveMinimum,omitempty" protobuf:"bytes,12,opt,name=exclusiveMinimum"`

	// maxLength is the largest number of characters in a string.
	MaxLength *int64 `json:"maxLength,omitempty" protobuf:"bytes,13,opt,name=maxLength"`

	// minLength is the smallest number of characters in a string.
	MinLength *int64 `json:"minLength,omitempty" protobuf:"bytes,14,opt,name=minLength"`

	// pattern is a regular expression in Go's syntax (RE2) that must match a part of the
	// string. Write '^' and '$' to match all of it.
	Pattern string `json:"pattern,omitempty" protobuf:"bytes,15,opt,name=pattern"`

	// maxItems is the largest number of items in a list.
	MaxItems *int64 `json:"maxItems,omitempty" protobuf:"bytes,16,opt,name=maxItems"`

	// minItems is the smallest number of items in a list.
	MinItems *int64 `json:"minItems,omitempty" protobuf:"bytes,17,opt,name=minItems"`

	// uniqueItems forbids equal items in a list. It must not be true: set
	// x-kubernetes-list-type to 'set' or 'map' instead.
	UniqueItems bool `json:"uniqueItems,omitempty" protobuf:"bytes,18,opt,name=uniqueItems"`

	// multipleOf requires a number that is an integer times this one.
	MultipleOf *float64 `json:"multipleOf,omitempty" protobuf:"bytes,19,opt,name=multipleOf"`

	// enum lists the values allowed.
	// +listType=atomic
	Enum []JSON `json:"enum,omitempty" protobuf:"bytes,20,rep,name=enum"`

	// maxProperties is the largest number of fields in an object or entries in a map.
	MaxProperties *int64 `json:"maxProperties,omitempty" protobuf:"bytes,21,opt,name=maxProperties"`

	// minProperties is the smallest number of fields in an object or entries in a map.
	MinProperties *int64 `json:"minProperties,omitempty" protobuf:"bytes,22,opt,name=minProperties"`

	// required names the fields that an object must have.
	// +listType=atomic
	Required []string `json:"required,omitempty" protobuf:"bytes,23,rep,name=required"`

	// The keywords without a comment of their own are references to other models.
	// OpenAPI v3 would wrap a described reference in allOf, unlike upstream's documents.
	// Their types have comments.

	Items *JSONSchemaPropsOrArray `json:"items,omitempty" protobuf:"bytes,24,opt,name=items"`

	// allOf are schemas that the value must all be valid for.
	// +listType=atomic
	AllOf []JSONSchemaProps `json:"allOf,omitempty" protobuf:"bytes,25,rep,name=allOf"`

	// oneOf are schemas of which the value must be valid for exactly one.
	// +listType=atomic
	OneOf []JSONSchemaProps `json:"oneOf,omitempty" protobuf:"bytes,26,rep,name=oneOf"`

	// anyOf are schemas of which the value must be valid for one or more.
	// +listType=atomic
	AnyOf []JSONSchemaProps `json:"anyOf,omitempty" protobuf:"bytes,27,rep,name=anyOf"`

	Not *JSONSchemaProps `json:"not,omitempty" protobuf:"bytes,28,opt,name=not"`

	// properties are the schemas of an object's fields, by the names of the fields.
	Properties map[string]JSONSchemaProps `json:"properties,omitempty" protobuf:"bytes,29,rep,name=properties"`

	AdditionalProperties *JSONSchemaPropsOrBool `json:"additionalProperties,omitempty" protobuf:"bytes,30,opt,name=additionalProperties"`

	// patternProperties are the schemas of fields whose names match a regular
	// expression. Must not be set.
	PatternProperties map[string]JSONSchemaProps `json:"patternProperties,omitempty" protobuf:"bytes,31,rep,name=patternProperties"`

	// dependencies are requirements of an object that has a field, by the name of the
	// field. Must not be set.
	Dependencies JSONSchemaDependencies `json:"dependencies,omitempty" protobuf:"bytes,32,opt,name=dependencies"`

	AdditionalItems *JSONSchemaPropsOrBool `json:"additionalItems,omitempty" protobuf:"bytes,33,opt,name=additionalItems"`

	// definitions are schemas for $ref. Must not be set.
	Definitions JSONSchemaDefinitions `json:"definitions,omitempty" protobuf:"bytes,34,opt,name=definitions"`

	ExternalDocs *ExternalDocumentation `json:"externalDocs,omitempty" protobuf:"bytes,35,opt,name=externalDocs"`

	Example *JSON `json:"example,omitempty" protobuf:"bytes,36,opt,name=example"`

	// nullable allows null as the value. Otherwise a field that is null is set to its
	// default, or removed if it has none.
	Nullable bool `json:"nullable,omitempty" protobuf:"bytes,37,opt,name=nullable"`

	// x-kubernetes-preserve-unknown-fields keeps fields that the schema does not
	// define, which are pruned otherwise. It applies to the whole value, except where
	// properties or additionalProperties define a part of it. Must be true or unset.
	XPreserveUnknownFields *bool `json:"x-kubernetes-preserve-unknown-fields,omitempty" protobuf:"bytes,38,opt,name=xKubernetesPreserveUnknownFields"`

	// x-kubernetes-embedded-resource declares that the value is a whole Kubernetes
	// object. Its apiVersion, kind and metadata are kept and validated although the
	// schema does not define them. Requires the type object, and either properties or
	// x-kubernetes-preserve-unknown-fields.
	XEmbeddedResource bool `json:"x-kubernetes-embedded-resource,omitempty" protobuf:"bytes,39,opt,name=xKubernetesEmbeddedResource"`

	// x-kubernetes-int-or-string declares that the value is an integer or a string. The
	// schema then needs no type. It may name the two as
	// 'anyOf: [{type: integer}, {type: string}]', directly or in the first entry of
	// allOf; schemas inside of anyOf and allOf must not name types otherwise.
	XIntOrString bool `json:"x-kubernetes-int-or-string,omitempty" protobuf:"bytes,40,opt,name=xKubernetesIntOrString"`

	// x-kubernetes-list-map-keys names the fields that identify an item of a list of
	// x-kubernetes-list-type 'map'. The fields must be scalars of the item itself, and
	// required or with a default.
	// +optional
	// +listType=atomic
	XListMapKeys []string `json:"x-kubernetes-list-map-keys,omitempty" protobuf:"bytes,41,rep,name=xKubernetesListMapKeys"`

	// x-kubernetes-list-type defines how lists are merged by server-side apply, and
	// which items may be equal:
	//
	// 'atomic' (the default): the list has one owner and is replaced as a whole.
	//
	// 'set': no two items are equal. Items have their own owners. They must be scalars
	// or atomic lists and maps.
	//
	// 'map': no two items have equal keys, which x-kubernetes-list-map-keys names.
	// Items must be objects, and are merged with the item of the same keys. The order
	// of the items is kept.
	// +optional
	XListType *string `json:"x-kubernetes-list-type,omitempty" protobuf:"bytes,42,opt,name=xKubernetesListType"`

	// x-kubernetes-map-type defines how objects and maps are merged by server-side
	// apply:
	//
	// 'granular' (the default): each field or entry has its own owners.
	//
	// 'atomic': the whole value has one owner and is replaced.
	// +optional
	XMapType *string `json:"x-kubernetes-map-type,omitempty" protobuf:"bytes,43,opt,name=xKubernetesMapType"`

	// x-kubernetes-validations are CEL expressions that must be true for the value.
	// +patchMergeKey=rule
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=rule
	XValidations ValidationRules `json:"x-kubernetes-validations,omitempty" patchStrategy:"merge" patchMergeKey:"rule" protobuf:"bytes,44,rep,name=xKubernetesValidations"`

	// x-kubernetes-default are CEL expressions that set unset fields of the value. They
	// are evaluated in order, after all values of 'default' are set, and read what
	// earlier expressions have set. Alpha: requires the feature gate
	// CustomResourceDefaultExpressions.
	// +optional
	// +listType=atomic
	// +k8s:conversion-gen=false
	XDefault []DefaultRule `json:"x-kubernetes-default,omitempty" protobuf:"bytes,1000,rep,name=xKubernetesDefault"`
}

// JSONSchemaURL is the URI of a meta-schema.
type JSONSchemaURL string

// JSONSchemaDependencies are requirements by the names of fields.
type JSONSchemaDependencies map[string]JSONSchemaPropsOrStringArray

// JSONSchemaDefinitions are schemas by their names.
type JSONSchemaDefinitions map[string]JSONSchemaProps

// ExternalDocumentation refers to documentation outside of the schema.
type ExternalDocumentation struct {
	// description explains what the documentation is about.
	Description string `json:"description,omitempty" protobuf:"bytes,1,opt,name=description"`

	// url is the address of the documentation.
	URL string `json:"url,omitempty" protobuf:"bytes,2,opt,name=url"`
}
