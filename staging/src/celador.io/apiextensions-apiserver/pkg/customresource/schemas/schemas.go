// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schemas applies the structural schemas of a CustomResourceDefinition to custom resources:
// pruning, coercion of metadata and defaulting.
package schemas

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Schemas holds the schemas of all versions of one kind of custom resources. It is immutable and safe
// for concurrent use.
type Schemas struct {
	kind                  schema.GroupKind
	preserveUnknownFields bool
	versions              map[string]Version
}

// Version holds the schema of one version in the two forms that upstream's libraries take. Both are nil
// for a version without a schema.
type Version struct {
	// OpenAPI is the schema as the CustomResourceDefinition has it.
	OpenAPI *apiextensions.JSONSchemaProps
	// Structural is the structural schema with pruned defaults. It is nil as well if the schema is not
	// structural and the CustomResourceDefinition preserves unknown fields.
	Structural *structuralschema.Structural
}

// New returns the schemas of the CustomResourceDefinition's versions, served or not. It returns an error
// if a schema is not structural, unless spec.preserveUnknownFields is set. The Schemas keep references
// to the CustomResourceDefinition.
func New(crd *apiextensionsv1.CustomResourceDefinition) (*Schemas, error) {
	s := &Schemas{
		kind:                  schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Status.AcceptedNames.Kind},
		preserveUnknownFields: crd.Spec.PreserveUnknownFields,
		versions:              make(map[string]Version, len(crd.Spec.Versions)),
	}
	for _, v := range crd.Spec.Versions {
		version, err := newVersion(v.Schema, crd.Spec.PreserveUnknownFields)
		if err != nil {
			return nil, fmt.Errorf("schema of version %s: %w", v.Name, err)
		}
		s.versions[v.Name] = version
	}
	return s, nil
}

func newVersion(validation *apiextensionsv1.CustomResourceValidation, preserveUnknownFields bool) (Version, error) {
	if validation == nil {
		return Version{}, nil
	}
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(validation, &internal, nil); err != nil {
		return Version{}, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	version := Version{OpenAPI: internal.OpenAPIV3Schema, Structural: structural}
	if preserveUnknownFields {
		return version, nil
	}
	if err != nil {
		return Version{}, err
	}
	// Pruning changes defaults in place, and NewStructural shares them with the CustomResourceDefinition.
	version.Structural = structural.DeepCopy()
	return version, defaulting.PruneDefaults(version.Structural)
}

// Version returns the schema of a version.
func (s *Schemas) Version(name string) Version { return s.versions[name] }
