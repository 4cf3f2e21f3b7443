// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules

import (
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/schemaexpression"
)

// A node is a node of a schema that has rules or leads to some. It is immutable.
type node struct {
	schema *structuralschema.Structural
	rules  apiextensionsv1.ValidationRules
	// program returns the compiled rules, in the same order. The first call compiles them. Nil
	// without rules.
	program func() *program
	// values describes how rules read the value. Nil without rules.
	values *schemaexpression.Schema

	items, additional *node
	properties        []property // by name
	allOf             []*node
	// position is the index of the node in allOf of its parent.
	position int
	// mayReadOld is false if no rule of the node or below reads oldSelf.
	mayReadOld bool
}

type property struct {
	name string
	node *node
}

// path returns the path of the field that a rule is about, relative to the node. It is empty if the
// rule is about the node itself, or if its fieldPath does not lead to a field of the schema.
func (n *node) path(rule *apiextensionsv1.ValidationRule) string {
	if rule.FieldPath == "" {
		return ""
	}
	path, _, err := cel.ValidFieldPath(rule.FieldPath, n.schema)
	if err != nil {
		return ""
	}
	return path.String()
}

// A builder builds nodes whose rules a compiler compiles.
type builder struct{ compiler *schemaexpression.Compiler }

// build returns the node of a schema, or nil if the rules below apply to fields that expressions
// cannot read. The type is nil if expressions cannot read values of the schema.
func (b builder) build(s *source, schema *structuralschema.Structural, resourceRoot bool, declared *apiservercel.DeclType) *node {
	n := &node{schema: schema, rules: s.rules, position: s.position}
	if len(s.rules) > 0 {
		b.addProgram(n, resourceRoot, declared)
	}
	var element *apiservercel.DeclType
	if declared != nil {
		element = declared.ElemType
	}
	if s.items != nil && schema.Items != nil {
		n.items = n.below(b.build(s.items, schema.Items, schema.Items.XEmbeddedResource, element))
	}
	if s.additional != nil && schema.AdditionalProperties != nil && schema.AdditionalProperties.Structural != nil {
		values := schema.AdditionalProperties.Structural
		n.additional = n.below(b.build(s.additional, values, values.XEmbeddedResource, element))
	}
	for name, rules := range s.properties {
		// A value validation may name properties that the schema does not specify.
		if field, ok := schema.Properties[name]; ok {
			if fieldType := propertyType(declared, name, &field); fieldType != nil {
				if below := n.below(b.build(rules, &field, field.XEmbeddedResource, fieldType)); below != nil {
					n.properties = append(n.properties, property{name, below})
				}
			}
		}
	}
	slices.SortFunc(n.properties, func(a, b property) int { return strings.Compare(a.name, b.name) })
	for _, rules := range s.allOf {
		if all := n.below(b.build(rules, schema, resourceRoot, declared)); all != nil {
			n.allOf = append(n.allOf, all)
		}
	}
	if len(n.rules) == 0 && n.items == nil && n.additional == nil && len(n.properties) == 0 && len(n.allOf) == 0 {
		return nil
	}
	return n
}

// propertyType returns the type of a property, or nil if expressions cannot read it.
func propertyType(object *apiservercel.DeclType, name string, schema *structuralschema.Structural) *apiservercel.DeclType {
	escaped, ok := apiservercel.Escape(name)
	if !ok {
		// Expressions of the object cannot name the property, but those of the property itself can
		// read its value.
		return model.SchemaDeclType(schema, schema.XEmbeddedResource)
	}
	if object == nil {
		return nil
	}
	if field := object.Fields[escaped]; field != nil {
		return field.Type
	}
	return nil
}

// below records in n that a rule of the child may read oldSelf, and returns the child.
func (n *node) below(child *node) *node {
	if child != nil && child.mayReadOld {
		n.mayReadOld = true
	}
	return child
}

func (b builder) addProgram(n *node, resourceRoot bool, declared *apiservercel.DeclType) {
	for i := range n.rules {
		n.mayReadOld = n.mayReadOld || strings.Contains(n.rules[i].Rule, schemaexpression.OldSelf)
	}
	values := n.schema
	if resourceRoot {
		values = model.WithTypeAndObjectMeta(values)
	}
	n.values = schemaexpression.NewSchema(&model.Structural{Structural: values})
	rules := n.rules
	n.program = sync.OnceValue(func() *program { return compile(b.compiler, rules, declared) })
}
