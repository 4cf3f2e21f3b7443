// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package locations finds the values in an object to which the scope of a validation leads: the
// values of a type, or the values at a path.
package locations

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/modelschema"
)

// A Location is a value in an object to which a scope leads.
type Location struct {
	// Self is the value. It is not null.
	Self ref.Val
	// OldSelf is the same value in the old object, or nil if there is none.
	OldSelf ref.Val

	path rulepath.Path
	// text is nil until Path is called.
	text ref.Val
}

// Path returns the path of the value in the syntax of scopes, such as spec.rules[0].host, with an
// index or key in place of each [*]. It may be very long, because clients choose the keys of map
// entries.
func (l *Location) Path() types.String {
	if l.text == nil {
		l.text = types.String(l.path.String())
	}
	return l.text.(types.String)
}

// Field returns the path for a message or the field of a cause, where a long one is cut off.
func (l *Location) Field() string {
	return rulepath.AbbreviateTo(rulepath.MaxFieldPath, string(l.Path()))
}

// Describe names the value in a message.
func (l *Location) Describe() string {
	if field := l.Field(); field != "" {
		return field
	}
	return "the object"
}

// Clone returns a location that stays valid when that of Finder.Find changes.
func (l *Location) Clone() *Location {
	return &Location{l.Self, l.OldSelf, slices.Clone(l.path), l.text}
}

// A Finder finds the values to which one scope leads in objects of one kind. It is immutable and
// safe for concurrent use.
type Finder struct {
	// root is nil if objects of the kind have no such values.
	root *node
	// strict is set if a value on the way that has another form than the path says is an error.
	strict bool
}

// node says where the values below a value of a schema are.
type node struct {
	// found is set if the scope leads to the value itself.
	found  bool
	fields []field // sorted by name
	// each is for the items of a list and the values of a map. It is nil if no value is below them.
	each *node
	// keys are the list map keys by which items are found in the old list. Empty if they are not.
	keys []string
}

type field struct {
	name string
	node *node
}

// AtPath returns a finder of the values at a path. schema is needed only for old values: it has the
// keys by which the items of a list are found in the old list. It may be nil, or lack a part of the
// path. Items of lists that it does not describe have no old values.
func AtPath(path rulepath.Path, schema *spec.Schema) *Finder {
	root := &node{}
	at := root
	for _, segment := range path {
		below := &node{}
		if segment.Each {
			at.each, at.keys = below, ListKeys(schema)
		} else {
			at.fields = []field{{segment.Name, below}}
		}
		at, schema = below, Below(schema, segment)
	}
	at.found = true
	return &Finder{root: root, strict: true}
}

// Below returns the schema of the values to which a segment of a path leads from a value with the
// given schema. It returns nil if the schema does not describe them. schema may be nil.
func Below(schema *spec.Schema, segment rulepath.Segment) *spec.Schema {
	if schema == nil {
		return nil
	}
	if !segment.Each {
		if property, ok := schema.Properties[segment.Name]; ok {
			return &property
		}
	} else if schema.Items != nil {
		return schema.Items.Schema
	}
	if schema.AdditionalProperties != nil {
		return schema.AdditionalProperties.Schema
	}
	return nil
}

// ListKeys returns the keys of a list of type map, and nil for other schemas.
func ListKeys(schema *spec.Schema) []string {
	if schema == nil {
		return nil
	}
	if listType, _ := schema.Extensions.GetString("x-kubernetes-list-type"); listType != "map" {
		return nil
	}
	keys, _ := schema.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	return keys
}

// OfType returns a finder of the values of the OpenAPI model with the given name, wherever objects
// of a kind have them. schema is the schema of the kind. It must come from package modelschema,
// which keeps the names of models.
func OfType(name string, schema *spec.Schema) *Finder {
	b := &builder{name: name, models: map[string]*node{}}
	root := b.build(schema)
	return &Finder{root: b.pruned(root)}
}

// Empty reports whether no object of the kind has values in the scope.
func (f *Finder) Empty() bool { return f.root == nil }

// builder builds the nodes of a schema. A model has one node, also where it contains itself.
type builder struct {
	name   string
	models map[string]*node
	nodes  []*node
}

func (b *builder) build(s *spec.Schema) *node {
	name := modelschema.NameOf(s)
	if known := b.models[name]; known != nil {
		return known
	}
	n := &node{found: name == b.name}
	b.nodes = append(b.nodes, n)
	if name != "" {
		b.models[name] = n
	}
	for property, schema := range s.Properties {
		n.fields = append(n.fields, field{property, b.build(&schema)})
	}
	slices.SortFunc(n.fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	each := rulepath.Segment{Each: true}
	if below := Below(s, each); below != nil && len(s.Properties) == 0 {
		n.each, n.keys = b.build(below), ListKeys(s)
	}
	return n
}

// pruned removes the nodes below which no object has values in the scope, so that Find does not
// visit them. It returns nil if the root is one of them.
func (b *builder) pruned(root *node) *node {
	leads := map[*node]bool{}
	for changed := true; changed; { // a model that contains itself takes a second round
		changed = false
		for _, n := range slices.Backward(b.nodes) {
			if !leads[n] && (n.found || leads[n.each] || slices.ContainsFunc(n.fields, func(f field) bool { return leads[f.node] })) {
				leads[n], changed = true, true
			}
		}
	}
	for _, n := range b.nodes {
		n.fields = slices.DeleteFunc(n.fields, func(f field) bool { return !leads[f.node] })
		if !leads[n.each] {
			n.each, n.keys = nil, nil
		}
	}
	if !leads[root] {
		return nil
	}
	return root
}
