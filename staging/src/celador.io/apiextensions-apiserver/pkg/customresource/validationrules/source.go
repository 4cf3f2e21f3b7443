// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// A source holds the rules of a node of a schema and of the nodes below. Items, properties and
// additional properties without rules are nil or missing.
type source struct {
	rules             apiextensionsv1.ValidationRules
	items, additional *source
	properties        map[string]*source
	allOf             []*source
	// position is the index of the source in allOf of its parent.
	position int
}

func (s *source) empty() bool {
	return len(s.rules) == 0 && s.items == nil && s.additional == nil && len(s.properties) == 0 && len(s.allOf) == 0
}

// take removes the rules from a schema and returns them, or nil if there are none. found is false
// if they are in allOf only; these stay in the schema too.
func take(schema *structuralschema.Structural) (taken *source, found bool) {
	if schema == nil {
		return nil, false
	}
	s := &source{rules: schema.XValidations}
	found = len(s.rules) > 0
	schema.XValidations = nil
	add := func(schema *structuralschema.Structural) *source {
		below, foundBelow := take(schema)
		found = found || foundBelow
		return below
	}
	s.items = add(schema.Items)
	if schema.AdditionalProperties != nil {
		s.additional = add(schema.AdditionalProperties.Structural)
	}
	for name, property := range schema.Properties {
		if below := add(&property); below != nil {
			s.add(name, below)
			schema.Properties[name] = property
		}
	}
	s.addAllOf(schema.ValueValidation)
	if s.empty() {
		return nil, false
	}
	return s, found
}

// nested returns the rules of a value validation, or nil if there are none.
func nested(validation *structuralschema.NestedValueValidation) *source {
	if validation == nil {
		return nil
	}
	s := &source{rules: validation.XValidations, items: nested(validation.Items), additional: nested(validation.AdditionalProperties)}
	for name, property := range validation.Properties {
		if below := nested(&property); below != nil {
			s.add(name, below)
		}
	}
	s.addAllOf(&validation.ValueValidation)
	if s.empty() {
		return nil
	}
	return s
}

func (s *source) add(property string, below *source) {
	if s.properties == nil {
		s.properties = map[string]*source{}
	}
	s.properties[property] = below
}

func (s *source) addAllOf(validation *structuralschema.ValueValidation) {
	if validation == nil {
		return
	}
	for i := range validation.AllOf {
		if all := nested(&validation.AllOf[i]); all != nil {
			all.position = i
			s.allOf = append(s.allOf, all)
		}
	}
}
