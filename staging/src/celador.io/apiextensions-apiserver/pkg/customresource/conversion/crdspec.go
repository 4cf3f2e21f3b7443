// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conversion converts custom resources between versions with the rules of
// spec.conversion.converters, and checks these rules when a CustomResourceDefinition is written.
//
// The source of a converter is an object in its fromVersion, which rules read. The target is the
// converted object in its toVersion, whose fields rules set.
package conversion

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/apiextensions/v1"
)

// A CRDSpec holds the parts of a CustomResourceDefinition that conversion depends on. Validate and
// New keep references to it; it must not be changed afterwards.
type CRDSpec struct {
	// Kind is the kind of the custom resources.
	Kind schema.GroupKind
	// ClusterScoped is set if the custom resources have no namespace.
	ClusterScoped bool
	// Versions holds all versions, served or not.
	Versions []Version
	// Converters is spec.conversion.converters.
	Converters []v1.Converter
	// Tables is spec.conversion.tables.
	Tables []v1.ConversionTable
}

// A Version is a version of a CustomResourceDefinition.
type Version struct {
	Name string
	// Schema is the structural schema. Nil if the version has none, or an invalid one.
	Schema *structuralschema.Structural
}

// Identical reports whether objects of two versions differ in their apiVersion only. All versions
// of the chain between them must have equal schemas, and its converters no rules. Such a conversion
// cannot fail.
func (spec *CRDSpec) Identical(from, to string) bool {
	if from == to {
		return true
	}
	schemas := map[string]*structuralschema.Structural{}
	for _, v := range spec.Versions {
		schemas[v.Name] = v.Schema
	}
	g := newGraph(spec)
	chains := g.chains(from)[to]
	if len(chains) != 1 || schemas[from] == nil {
		return false
	}
	for i, next := range chains[0][1:] {
		converter := spec.Converters[g.converters[pair{chains[0][i], next}]]
		if len(converter.Rules) > 0 || !equality.Semantic.DeepEqual(schemas[from], schemas[next]) {
			return false
		}
	}
	return true
}
