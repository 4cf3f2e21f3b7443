// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"reflect"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// A shape describes how values of a schema merge into a Go type. Schemas and types are resolved once, so
// that a merge takes only as long as the configuration is large. Each part is nil if merge does not
// support values of that form, for example because their schema is atomic. Immutable.
type shape struct {
	// pointed is the shape of the target. It is set for pointer types, which have no other part.
	pointed *shape
	// fields holds the fields of a struct by their JSON names.
	fields map[string]fieldShape
	// entries holds the keys and values of a map.
	entries *mapShape
	// list holds the elements of a set or of a list with keys.
	list *listShape
	// scalar holds the type of scalars.
	scalar *scalarShape
}

// A fieldShape is the shape of a struct field.
type fieldShape struct {
	// index is the argument of reflect.Value.FieldByIndex.
	index []int
	*shape
}

// A mapShape is the shape of a map with string keys.
type mapShape struct {
	// named holds the values of keys that the schema names, element the other values.
	named   map[string]*shape
	element *shape
}

// A listShape is the shape of an associative list.
type listShape struct {
	// keys holds the merge keys. A set has none.
	keys    []keyShape
	element *shape
}

// A keyShape is a merge key of a list.
type keyShape struct {
	name  string
	index []int
}

// A scalarShape is the shape of a scalar.
type scalarShape struct {
	schema.Scalar
	// plain is set if the JSON of the Go type is that of its kind.
	plain bool
}

// shapes caches the shapes of the kinds that requests have. Safe for concurrent use.
type shapes struct{ byType sync.Map } // of *kindShape by reflect.Type

// A kindShape is the shape of a Go type of objects.
type kindShape struct {
	schema *schema.Schema
	kind   string
	*shape
}

// of returns the shape of the objects of a Go type, which is a struct, with the schema of a typed object. It
// returns nil if the schema has no name. The shape of a type is replaced when its schema changes.
func (s *shapes) of(t reflect.Type, object *typed.TypedValue) *shape {
	name := object.TypeRef().NamedType
	if name == nil {
		return nil
	}
	if known, ok := s.byType.Load(t); ok {
		if known := known.(*kindShape); known.schema == object.Schema() && known.kind == *name {
			return known.shape
		}
	}
	b := &shapeBuilder{object.Schema(), map[shapeKey]*shape{}}
	built := &kindShape{object.Schema(), *name, b.build(t, object.TypeRef())}
	s.byType.Store(t, built)
	return built.shape
}

// A shapeBuilder builds the shapes of one schema.
type shapeBuilder struct {
	schema *schema.Schema
	known  map[shapeKey]*shape
}

// A shapeKey identifies a named type of a schema that is not overridden where it is used.
type shapeKey struct {
	reflect.Type
	name string
}

// build returns the shape of a Go type. Types may refer to themselves.
func (b *shapeBuilder) build(t reflect.Type, ref schema.TypeRef) *shape {
	s := &shape{}
	if ref.NamedType != nil && ref.ElementRelationship == nil {
		key := shapeKey{t, *ref.NamedType}
		if known := b.known[key]; known != nil {
			return known
		}
		b.known[key] = s
	}
	if t.Kind() == reflect.Pointer {
		s.pointed = b.build(t.Elem(), ref)
		return s
	}
	atom, ok := b.schema.Resolve(ref)
	if !ok {
		return s
	}
	plain := !hasCustomJSON(t)
	if atom.Scalar != nil {
		s.scalar = &scalarShape{*atom.Scalar, plain}
	}
	if atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic && plain {
		switch {
		case t.Kind() == reflect.Struct:
			s.fields = b.fields(t, atom.Map)
		case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
			s.entries = b.entries(t, atom.Map)
		}
	}
	if atom.List != nil && atom.List.ElementRelationship == schema.Associative && t.Kind() == reflect.Slice {
		s.list = b.list(t, atom.List)
	}
	return s
}

func (b *shapeBuilder) fields(t reflect.Type, of *schema.Map) map[string]fieldShape {
	indexes, ok := jsonFields(t)
	if !ok {
		return nil
	}
	fields := make(map[string]fieldShape, len(indexes))
	for name, index := range indexes {
		if described, ok := of.FindField(name); ok {
			fields[name] = fieldShape{index, b.build(t.FieldByIndex(index).Type, described.Type)}
		}
	}
	return fields
}

func (b *shapeBuilder) entries(t reflect.Type, of *schema.Map) *mapShape {
	s := &mapShape{named: map[string]*shape{}, element: b.build(t.Elem(), of.ElementType)}
	for _, field := range of.Fields {
		s.named[field.Name] = b.build(t.Elem(), field.Type)
	}
	return s
}

// list returns nil if merge cannot compare the keys of the list.
func (b *shapeBuilder) list(t reflect.Type, of *schema.List) *listShape {
	s := &listShape{element: b.build(t.Elem(), of.ElementType)}
	switch {
	case hasCustomJSON(t.Elem()):
		return nil
	case len(of.Keys) == 0:
		return s
	case t.Elem().Kind() != reflect.Struct:
		return nil
	}
	indexes, ok := jsonFields(t.Elem())
	for _, name := range of.Keys {
		index, known := indexes[name]
		if !ok || !known {
			return nil
		}
		s.keys = append(s.keys, keyShape{name, index})
	}
	return s
}

// jsonFields returns the indexes of the fields of a struct type by their JSON names, including the
// fields of inlined structs. It returns false if the type inlines a pointer, whose target a copy of
// the struct would share.
func jsonFields(t reflect.Type) (map[string][]int, bool) {
	fields := map[string][]int{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		inlined := name == "" && (field.Anonymous || strings.Contains(options, "inline"))
		switch {
		case name == "-" || !field.IsExported():
		case inlined && field.Type.Kind() == reflect.Struct:
			below, ok := jsonFields(field.Type)
			if !ok {
				return nil, false
			}
			for name, index := range below {
				fields[name] = append([]int{i}, index...)
			}
		case inlined:
			return nil, false
		default:
			if name == "" {
				name = field.Name
			}
			fields[name] = []int{i}
		}
	}
	return fields, true
}
