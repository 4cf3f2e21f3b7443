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
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime/schema"

	expressions "celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"
)

// Schemas holds the structural schemas of all versions of one kind of custom resources. It is
// immutable and safe for concurrent use.
type Schemas struct {
	kind                  schema.GroupKind
	preserveUnknownFields bool
	versions              map[string]*structuralschema.Structural
	// embedding holds the versions whose schemas have embedded resources.
	embedding       map[string]bool
	defaultRules    map[string]*defaulting.Rules
	validationRules map[string]*validationrules.Rules
}

// New returns the schemas of the CustomResourceDefinition's versions, served or not. It returns an
// error if a schema is not structural, unless spec.preserveUnknownFields is set. If it is set, the
// Schemas share default values with the CustomResourceDefinition. defaults holds the default rules
// to evaluate, by version.
func New(crd *apiextensionsv1.CustomResourceDefinition, defaults map[string]expressions.SchemaDefaults) (*Schemas, error) {
	s := &Schemas{
		kind:                  schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Status.AcceptedNames.Kind},
		preserveUnknownFields: crd.Spec.PreserveUnknownFields,
		versions:              make(map[string]*structuralschema.Structural, len(crd.Spec.Versions)),
		embedding:             map[string]bool{},
		defaultRules:          make(map[string]*defaulting.Rules, len(defaults)),
		validationRules:       make(map[string]*validationrules.Rules, len(crd.Spec.Versions)),
	}
	for _, v := range crd.Spec.Versions {
		structural, err := newStructural(v.Schema, crd.Spec.PreserveUnknownFields)
		if err != nil {
			return nil, fmt.Errorf("schema of version %s: %w", v.Name, err)
		}
		s.validationRules[v.Name] = validationrules.Take(structural, true)
		s.versions[v.Name], s.embedding[v.Name] = structural, embeds(structural)
		if rules := defaulting.New(crd.Name, structural, defaults[v.Name]); rules != nil {
			s.defaultRules[v.Name] = rules
		}
	}
	return s, nil
}

func newStructural(validation *apiextensionsv1.CustomResourceValidation, preserveUnknownFields bool) (*structuralschema.Structural, error) {
	internal, err := InternalSchema(validation)
	if err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal)
	if preserveUnknownFields {
		// A schema that is not structural does not prune, coerce or default.
		return structural, nil
	}
	if err != nil {
		return nil, err
	}
	// Pruning changes defaults in place, and NewStructural shares them with the
	// CustomResourceDefinition.
	structural = structural.DeepCopy()
	return structural, structuraldefaulting.PruneDefaults(structural)
}

// embeds reports whether a schema has an embedded resource, at any depth.
func embeds(s *structuralschema.Structural) bool {
	if s == nil {
		return false
	}
	if s.XEmbeddedResource || embeds(s.Items) || s.AdditionalProperties != nil && embeds(s.AdditionalProperties.Structural) {
		return true
	}
	for _, property := range s.Properties {
		if embeds(&property) {
			return true
		}
	}
	return false
}

// InternalSchema converts the schema of a version to the internal version, from which upstream's
// validators are made. It returns nil for a version without a schema. Schemas does not keep the
// result, which takes hundreds of kilobytes for a large resource.
func InternalSchema(validation *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	if validation == nil {
		return nil, nil
	}
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(validation, &internal, nil); err != nil {
		return nil, err
	}
	return internal.OpenAPIV3Schema, nil
}

// ValidationRules returns the validation rules of a version, or nil if its schema has none.
func (s *Schemas) ValidationRules(version string) *validationrules.Rules {
	return s.validationRules[version]
}

// Structural returns the structural schema of a version with pruned defaults and without validation
// rules. It is nil for a version without a schema, and for a schema that is not structural if
// spec.preserveUnknownFields is set.
func (s *Schemas) Structural(version string) *structuralschema.Structural { return s.versions[version] }

// DefaultRules returns the default rules of a version. It is nil for a version without rules.
func (s *Schemas) DefaultRules(version string) *defaulting.Rules { return s.defaultRules[version] }
