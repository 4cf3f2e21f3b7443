// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/klog/v2"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// Rules holds the rules of one version, which are compiled at the first use. It is immutable and
// safe for concurrent use. A nil *Rules has no rules.
type Rules struct {
	crd    string
	schema *model.Structural // of the object
	root   func() *node
}

// A node is a schema whose values must be visited, because it has compiled rules or contains
// schemas that have.
type node struct {
	// schema describes self.
	schema *schemaexpression.Schema
	// rules are written in the schema. Their self is its value, in which they name a field.
	rules      []*rule
	properties []property
	// items and values are nil without rules.
	items, values *node
}

// property is a property of a node.
type property struct {
	name string
	// rules are written in the schema of the property, which they set. Their self is the object
	// around it.
	rules []*rule
	// inside is nil if only rules are set.
	inside *node
}

// New returns the rules of a version of a CustomResourceDefinition. root is the structural schema
// of the version, which must not change, nor must the defaults. A stored rule may be invalid for
// this server, for example after a downgrade: it sets nothing, and Validate returns an error. New
// returns nil if there are no rules.
func New(crd string, root *structuralschema.Structural, defaults apiextensions.SchemaDefaults) *Rules {
	if root == nil || len(defaults) == 0 {
		return nil
	}
	return &Rules{
		crd:    crd,
		schema: (&place{schema: root, resource: true}).valueSchema(),
		root:   sync.OnceValue(func() *node { return compile(crd, root, defaults) }),
	}
}

// compile returns the node of the object.
func compile(crd string, root *structuralschema.Structural, defaults apiextensions.SchemaDefaults) *node {
	top, outside := newPlaces(root, defaults)
	for _, path := range outside {
		klog.Background().Info("Ignoring default expressions that are in no structural schema", "customResourceDefinition", crd, "schema", path)
	}
	b := &builder{
		crd:      crd,
		compiler: newCompiler(root, func(string) environment.Type { return environment.StoredExpressions }),
		nodes:    map[*place]*node{},
	}
	top.each(b.add)
	return b.node(top)
}

type builder struct {
	crd      string
	compiler *compiler
	nodes    map[*place]*node
}

func (b *builder) add(at *place) {
	for _, source := range at.rules {
		scope, r, errs := b.compiler.compile(at, source, nil)
		if len(errs) > 0 {
			klog.Background().Info("A stored default expression is invalid", "customResourceDefinition", b.crd, "schema", at.path, "rule", source.Rule, "err", errs.ToAggregate())
		}
		switch {
		case r == nil:
		case scope == at:
			n := b.node(at)
			n.rules = append(n.rules, r)
		default:
			p := b.node(scope).property(at.property)
			p.rules = append(p.rules, r)
		}
	}
}

// node returns the node of a place, which it adds to the node of the place around it.
func (b *builder) node(at *place) *node {
	if n, ok := b.nodes[at]; ok {
		return n
	}
	n := &node{schema: schemaexpression.NewOpenSchema(at.valueSchema())}
	b.nodes[at] = n
	if at.parent == nil {
		return n
	}
	switch parent := b.node(at.parent); at {
	case at.parent.items:
		parent.items = n
	case at.parent.values:
		parent.values = n
	default:
		parent.property(at.property).inside = n
	}
	return n
}

// property returns the property of the node, which it adds if necessary. Properties are sorted by
// name.
func (n *node) property(name string) *property {
	i, found := slices.BinarySearchFunc(n.properties, name, func(p property, name string) int { return cmp.Compare(p.name, name) })
	if !found {
		n.properties = slices.Insert(n.properties, i, property{name: name})
	}
	return &n.properties[i]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
