// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package structuredmerge_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"celador.io/admission/internal/structuredmerge"
)

// A builtIn is a kind of Kubernetes.
type builtIn struct {
	runtimeschema.GroupVersionKind
	// typeName is the name of its type in the schema.
	typeName string
}

// empty returns an object of the kind.
func (b builtIn) empty() runtime.Object {
	object, err := scheme.Scheme.New(b.GroupVersionKind)
	if err != nil {
		panic(err)
	}
	object.GetObjectKind().SetGroupVersionKind(b.GroupVersionKind)
	return object
}

// kubernetes returns the schema of Kubernetes, and all of its kinds, in order.
var kubernetes = sync.OnceValues(func() (*schema.Schema, []builtIn) {
	var found []builtIn
	var types *schema.Schema
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	for kind := range scheme.Scheme.AllKnownTypes() {
		b := builtIn{GroupVersionKind: kind}
		if kind.Version == runtime.APIVersionInternal {
			continue
		}
		if valid, err := converter.ObjectToTyped(b.empty()); err == nil {
			types, b.typeName = valid.Schema(), *valid.TypeRef().NamedType
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b builtIn) int { return cmp.Compare(a.String(), b.String()) })
	return types, found
})

// A schemaConverter is a type converter of built-in kinds with a schema.
type schemaConverter struct {
	parser typed.Parser
	shapes structuredmerge.Shapes
}

// ObjectToTyped implements managedfields.TypeConverter.
func (s *schemaConverter) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	_, kinds := kubernetes()
	kind := object.GetObjectKind().GroupVersionKind()
	i := slices.IndexFunc(kinds, func(b builtIn) bool { return b.GroupVersionKind == kind })
	if i < 0 {
		return nil, fmt.Errorf("no kind %s", kind)
	}
	t := s.parser.Type(kinds[i].typeName)
	if content, ok := object.(*unstructured.Unstructured); ok {
		return t.FromUnstructured(content.Object, options...)
	}
	return t.FromStructured(object, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (s *schemaConverter) TypedToObject(merged *typed.TypedValue) (runtime.Object, error) {
	return &unstructured.Unstructured{Object: merged.AsValue().Unstructured().(map[string]any)}, nil
}

// converters holds the results of converterOf.
var converters sync.Map

// converterOf returns a converter for a number of changes. Without changes, its schema is
// Kubernetes'. Other schemas differ in what definitions of custom resources can declare: whether
// lists and maps are atomic, sets or have keys, which keys and defaults these are, and whether
// there are unknown fields.
func converterOf(changes int) *schemaConverter {
	if known, ok := converters.Load(changes); ok {
		return known.(*schemaConverter)
	}
	original, _ := kubernetes()
	types := slices.Clone(original.Types)
	if changes > 0 {
		c := &choices{}
		for i := range types {
			if len(c.left) == 0 {
				c.left = random(uint64(1000*changes + i))
			}
			c.change(original, &types[i].Atom)
		}
	}
	made, _ := converters.LoadOrStore(changes, &schemaConverter{parser: typed.Parser{Schema: schema.Schema{Types: types}}})
	return made.(*schemaConverter)
}

// change changes the lists and maps of a type.
func (c *choices) change(types *schema.Schema, atom *schema.Atom) {
	if atom.Map == nil {
		return
	}
	fields := atom.Map
	atom.Map = &schema.Map{ElementType: fields.ElementType, ElementRelationship: fields.ElementRelationship, Fields: slices.Clone(fields.Fields)}
	if c.one(20) {
		atom.Map.ElementRelationship = of(c, schema.Atomic, schema.Separable)
	}
	if c.one(20) {
		atom.Map.ElementType = schema.TypeRef{NamedType: new("__untyped_deduced_")}
	}
	for i := range atom.Map.Fields {
		field := &atom.Map.Fields[i]
		inlined := &field.Type.Inlined
		switch {
		case inlined.List != nil && c.one(3):
			list := *inlined.List
			list.ElementRelationship = of(c, schema.Atomic, schema.Associative, schema.Associative)
			list.Keys = nil
			if element, ok := types.Resolve(list.ElementType); ok && element.Map != nil {
				list.Keys = c.keys(types, element.Map)
			}
			if list.ElementRelationship == schema.Associative && list.Keys == nil {
				if element, ok := types.Resolve(list.ElementType); !ok || element.Scalar == nil {
					list.ElementRelationship = schema.Atomic
				}
			}
			inlined.List = &list
		case inlined.Map != nil && c.one(3):
			inlined.Map = &schema.Map{ElementType: inlined.Map.ElementType, Fields: inlined.Map.Fields, ElementRelationship: of(c, schema.Atomic, schema.Separable)}
		case inlined.Scalar != nil && c.one(20):
			inlined.Scalar = new(schema.Untyped)
		case inlined.Scalar != nil && *inlined.Scalar == schema.String && c.one(10):
			field.Default = of(c, words...)
		case inlined.Scalar != nil && *inlined.Scalar == schema.Numeric && c.one(10):
			field.Default = int64(c.n(4))
		}
	}
}

// keys returns up to two keys of the elements of a list.
func (c *choices) keys(types *schema.Schema, of *schema.Map) []string {
	var keys []string
	for i := range of.Fields {
		field := &of.Fields[i]
		if t, ok := types.Resolve(field.Type); ok && t.Scalar != nil && len(keys) < 2 && c.one(2) {
			keys = append(keys, field.Name)
		}
	}
	return keys
}
