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

// A node holds the validation rules of one schema inside the schema of a version, and leads to the
// nodes of the schemas below it that have rules. Take makes the tree of nodes. Its first use adds
// what depends on the types of the values, such as the compiled rules; see link. The nodes do not
// change afterwards.
type node struct {
	schema *structuralschema.Structural
	rules  apiextensionsv1.ValidationRules
	// resource is set if rules may read apiVersion, kind and metadata.name even if the schema does
	// not specify them.
	resource bool

	// items and additional are the nodes of the items of a list and of the values of a map. Nil
	// without rules.
	items, additional *node
	properties        []property // by name once linked
	allOf             []*node
	// position is the index of the node in allOf of its parent.
	position int

	// program returns the compiled rules, in the order of rules. The first call compiles them. Nil
	// without rules.
	program func() *program
	// values describes how rules read the value. Nil without rules.
	values *schemaexpression.Schema
	// mayReadOld is false if no rule of the node or below reads oldSelf.
	mayReadOld bool
}

type property struct {
	name string
	node *node
}

// path returns the path from the node to the field that a rule reports. It is empty if the rule
// reports the node itself, or if its fieldPath does not lead to a field of the schema.
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

func (n *node) isEmpty() bool {
	return len(n.rules) == 0 && n.items == nil && n.additional == nil && len(n.properties) == 0 && len(n.allOf) == 0
}

// A linker completes the nodes, with a compiler for their rules.
type linker struct{ compiler *schemaexpression.Compiler }

// link completes a node and those below it with what depends on the types of the values. It removes
// properties that expressions cannot read, and returns nil if no rule remains. declared is the type
// of the node's values, or nil if expressions cannot read them.
func (l linker) link(n *node, declared *apiservercel.DeclType) *node {
	if n == nil {
		return nil
	}
	if len(n.rules) > 0 {
		l.addProgram(n, declared)
	}
	var element *apiservercel.DeclType
	if declared != nil {
		element = declared.ElemType
	}
	n.items = n.below(l.link(n.items, element))
	n.additional = n.below(l.link(n.additional, element))
	n.properties = slices.DeleteFunc(n.properties, func(p property) bool {
		fieldType := propertyType(declared, p.name, p.node.schema)
		return fieldType == nil || n.below(l.link(p.node, fieldType)) == nil
	})
	slices.SortFunc(n.properties, func(a, b property) int { return strings.Compare(a.name, b.name) })
	n.allOf = slices.DeleteFunc(n.allOf, func(all *node) bool { return n.below(l.link(all, declared)) == nil })
	if n.isEmpty() {
		return nil
	}
	return n
}

// propertyType returns the type of a property, or nil if expressions cannot read it.
func propertyType(object *apiservercel.DeclType, name string, schema *structuralschema.Structural) *apiservercel.DeclType {
	escaped, ok := apiservercel.Escape(name)
	if !ok {
		// Rules of the object cannot select the property by its name. Keep the node nevertheless:
		// rules of the property itself read its value as self.
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

// below returns the child, after it has recorded in n whether a rule of the child may read oldSelf.
func (n *node) below(child *node) *node {
	if child != nil && child.mayReadOld {
		n.mayReadOld = true
	}
	return child
}

func (l linker) addProgram(n *node, declared *apiservercel.DeclType) {
	for i := range n.rules {
		n.mayReadOld = n.mayReadOld || strings.Contains(n.rules[i].Rule, schemaexpression.OldSelf)
	}
	values := n.schema
	if n.resource {
		values = model.WithTypeAndObjectMeta(values)
	}
	n.values = schemaexpression.NewSchema(&model.Structural{Structural: values})
	n.program = sync.OnceValue(func() *program { return compile(l.compiler, n.rules, declared) })
}
