// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rulepath parses the paths of conversion rules and default rules, such as spec.endpoints[*] and
// metadata.annotations['example.com/zone'], and resolves them in structural schemas.
package rulepath

import (
	"errors"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// A Path leads from an object to a field in it. The empty path is the object itself.
type Path []Step

// A Step is a property name or map key, or every entry of a list or map.
type Step struct {
	// Name is the name of the property or the key of the map entry.
	Name string
	// Each is set for [*]: every item of a list and every value of a map. Name is empty then.
	Each bool
}

// ParseField parses the field of a rule. It returns an error, which says where and what to write instead, if the text is
// not a path, contains [*] or indexes a list.
func ParseField(text string) (Path, error) { return nil, errors.New("not implemented") }

// ParseScope parses the scope of a rule, which may contain [*]. It returns the errors of ParseField.
func ParseScope(text string) (Path, error) { return nil, errors.New("not implemented") }

// String returns the canonical text of the path.
func (p Path) String() string { return "" }

// Resolve returns the schema at the path in a schema. It returns an error that names the step for which the schema
// has no property, or has a property where the path has a key or [*].
func (p Path) Resolve(schema *structuralschema.Structural) (*structuralschema.Structural, error) {
	return nil, errors.New("not implemented")
}
