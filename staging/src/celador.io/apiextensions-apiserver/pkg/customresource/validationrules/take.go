// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

// take moves the rules of a schema to a tree of nodes. It returns the root, or nil if there are no
// rules. Rules in allOf are copied to the tree and stay in the schema, too. found is false if there
// are no others: Kubernetes then evaluates none.
func take(schema *structuralschema.Structural, resource bool) (taken *node, found bool) {
	if schema == nil {
		return nil, false
	}
	n := &node{schema: schema, rules: schema.XValidations, resource: resource}
	found = len(n.rules) > 0
	schema.XValidations = nil
	add := func(schema *structuralschema.Structural) *node {
		below, foundBelow := take(schema, schema != nil && schema.XEmbeddedResource)
		found = found || foundBelow
		return below
	}
	n.items = add(schema.Items)
	if schema.AdditionalProperties != nil {
		n.additional = add(schema.AdditionalProperties.Structural)
	}
	for name, field := range schema.Properties {
		if below := add(&field); below != nil {
			n.properties = append(n.properties, property{name, below})
			schema.Properties[name] = field
		}
	}
	n.addAllOf(schema.ValueValidation)
	if n.isEmpty() {
		return nil, false
	}
	return n, found
}

// nested returns the tree of nodes for an element of allOf, or for a part of one. Such a validation
// only restricts values; schema describes their types. nested returns nil if the validation has no
// rules for values that the schema specifies.
func nested(validation *structuralschema.NestedValueValidation, schema *structuralschema.Structural, resource bool) *node {
	n := &node{schema: schema, rules: validation.XValidations, resource: resource}
	add := func(validation *structuralschema.NestedValueValidation, schema *structuralschema.Structural) *node {
		if validation == nil || schema == nil {
			return nil
		}
		return nested(validation, schema, schema.XEmbeddedResource)
	}
	n.items = add(validation.Items, schema.Items)
	if schema.AdditionalProperties != nil {
		n.additional = add(validation.AdditionalProperties, schema.AdditionalProperties.Structural)
	}
	for name, properties := range validation.Properties {
		if field, ok := schema.Properties[name]; ok {
			if below := add(&properties, &field); below != nil {
				n.properties = append(n.properties, property{name, below})
			}
		}
	}
	n.addAllOf(&validation.ValueValidation)
	if n.isEmpty() {
		return nil
	}
	return n
}

func (n *node) addAllOf(validation *structuralschema.ValueValidation) {
	if validation == nil {
		return
	}
	for i := range validation.AllOf {
		if all := nested(&validation.AllOf[i], n.schema, n.resource); all != nil {
			all.position = i
			n.allOf = append(n.allOf, all)
		}
	}
}
