// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// CustomResourceDefinitionVersion is one API version of a custom resource.
type CustomResourceDefinitionVersion struct {
	// name is the name of the version, such as 'v1' or 'v2beta1'. It is part of the
	// paths '/apis/<group>/<version>/...'.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// served enables requests in this version. Objects that are stored in a version
	// that is not served can still be read in other versions.
	Served bool `json:"served" protobuf:"varint,2,opt,name=served"`

	// storage selects the version in which objects are stored. It must be true for
	// exactly one version.
	Storage bool `json:"storage" protobuf:"varint,3,opt,name=storage"`

	// deprecated adds a Warning header to the responses to requests in this version.
	// Defaults to false.
	// +optional
	Deprecated bool `json:"deprecated,omitempty" protobuf:"varint,7,opt,name=deprecated"`

	// deprecationWarning is the text of the Warning header. By default, the text
	// names the version, and the latest served version that is not less stable if
	// there is one. Requires 'deprecated: true'.
	// +optional
	DeprecationWarning *string `json:"deprecationWarning,omitempty" protobuf:"bytes,8,opt,name=deprecationWarning"`

	// schema defines the fields of this version. Objects are pruned, defaulted and
	// validated by it.
	// +optional
	Schema *CustomResourceValidation `json:"schema,omitempty" protobuf:"bytes,4,opt,name=schema"`

	// subresources enables the subresources 'status' and 'scale'.
	// +optional
	Subresources *CustomResourceSubresources `json:"subresources,omitempty" protobuf:"bytes,5,opt,name=subresources"`

	// additionalPrinterColumns are the columns that tables of objects have after the
	// name. Defaults to the age of the object. 'kubectl get' prints such tables.
	// +optional
	// +listType=atomic
	AdditionalPrinterColumns []CustomResourceColumnDefinition `json:"additionalPrinterColumns,omitempty" protobuf:"bytes,6,rep,name=additionalPrinterColumns"`

	// selectableFields are the fields that field selectors may use besides
	// metadata.name and metadata.namespace. At most 8.
	// +optional
	// +listType=atomic
	SelectableFields []SelectableField `json:"selectableFields,omitempty" protobuf:"bytes,9,rep,name=selectableFields"`
}

// CustomResourceValidation holds the schema of a version.
type CustomResourceValidation struct {
	// openAPIV3Schema is the schema of the whole object. It must be structural: each
	// value has a type, defined outside of 'allOf', 'anyOf', 'oneOf' and 'not'.
	// +optional
	OpenAPIV3Schema *JSONSchemaProps `json:"openAPIV3Schema,omitempty" protobuf:"bytes,1,opt,name=openAPIV3Schema"`
}

// CustomResourceColumnDefinition is a column in tables of custom resources.
type CustomResourceColumnDefinition struct {
	// name is the title of the column.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// type is the OpenAPI v2 type of the values: integer, number, string, boolean or
	// date. A date is printed as the time that has passed since.
	Type string `json:"type" protobuf:"bytes,2,opt,name=type"`

	// format is the OpenAPI v2 format of the values. The format 'name' marks the
	// column that identifies the object.
	// +optional
	Format string `json:"format,omitempty" protobuf:"bytes,3,opt,name=format"`

	// description explains the column to users.
	// +optional
	Description string `json:"description,omitempty" protobuf:"bytes,4,opt,name=description"`

	// priority is 0 for columns that are always printed. Clients may leave out columns
	// of higher numbers where space is limited, as kubectl does without '-o wide'.
	// +optional
	Priority int32 `json:"priority,omitempty" protobuf:"bytes,5,opt,name=priority"`

	// jsonPath selects the value from the object, such as '.status.phase' or
	// '.spec.ports[0].name'.
	JSONPath string `json:"jsonPath" protobuf:"bytes,6,opt,name=jsonPath"`
}

// SelectableField is a field that field selectors may use.
type SelectableField struct {
	// jsonPath names the field, such as '.spec.color'. The field must be a string, a
	// boolean or an integer, outside of metadata and of lists. In objects that lack
	// the field, selectors read the empty string. Required.
	JSONPath string `json:"jsonPath" protobuf:"bytes,1,opt,name=jsonPath"`
}
