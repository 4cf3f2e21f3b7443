// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// maxAlternatives is how many types the values of a constructor may have for them to be known.
// Where maps are nested, there are more and more.
const maxAlternatives = 8

// constructors have the types with which mutations construct objects: Object, which is the
// type of 'object', and Object.spec and so on, which are those of its fields. Not safe for
// concurrent use.
type constructors struct {
	*typeTable
	object *cel.Type
	// known are results of typesOf.
	known map[string][]*cel.Type
}

// newConstructors returns the constructors for objects of a type that the table has. The
// other types of mutations come from the provider.
func newConstructors(others types.Provider, table *typeTable, object *cel.Type) *constructors {
	extended := *table
	extended.Provider = others
	return &constructors{&extended, object, map[string][]*cel.Type{}}
}

func isConstructor(name string) bool {
	return name == mutation.ObjectTypeName || strings.HasPrefix(name, mutation.ObjectTypeName+".")
}

// typesOf returns the types of what a constructor may make, as they are when read. There is
// none if the constructor does not exist. There are several below maps, as a map can be
// written as an object, the fields of which are its keys.
func (c *constructors) typesOf(constructor string) []*cel.Type {
	if known, ok := c.known[constructor]; ok {
		return known
	}
	places := []*cel.Type{c.object}
	if dot := strings.LastIndexByte(constructor, '.'); dot >= 0 {
		places = c.fieldTypes(constructor[:dot], constructor[dot+1:])
	}
	var found []*cel.Type
	for _, place := range places {
		found = addTypes(found, constructible(place)...)
	}
	if len(found) > maxAlternatives {
		found = []*cel.Type{cel.DynType}
	}
	c.known[constructor] = found
	return found
}

// constructible returns the types that constructors may have for a place: that of the value
// itself or, as lists and maps have none, that of what is in it.
func constructible(place *cel.Type) []*cel.Type {
	switch place.Kind() {
	case types.StructKind, types.DynKind:
		return []*cel.Type{place}
	case types.ListKind:
		return constructible(place.Parameters()[0])
	case types.MapKind:
		return append([]*cel.Type{place}, constructible(place.Parameters()[1])...)
	default:
		return nil
	}
}

// fieldTypes returns the types that the field of a constructor may have. There is none if
// it has no such field. Names are not escaped.
func (c *constructors) fieldTypes(constructor, field string) []*cel.Type {
	var found []*cel.Type
	for _, t := range c.typesOf(constructor) {
		switch t.Kind() {
		case types.StructKind:
			if f := c.fieldOf(t.TypeName(), c.objects[t.TypeName()], field); f != nil {
				found = addTypes(found, f)
			}
		case types.MapKind:
			found = addTypes(found, t.Parameters()[1])
		default:
			found = addTypes(found, cel.DynType)
		}
	}
	return found
}

func addTypes(to []*cel.Type, more ...*cel.Type) []*cel.Type {
	for _, t := range more {
		if !slices.ContainsFunc(to, t.IsExactType) {
			to = append(to, t)
		}
	}
	return to
}

// FindStructType implements types.Provider.
func (c *constructors) FindStructType(name string) (*types.Type, bool) {
	if !isConstructor(name) {
		return c.typeTable.FindStructType(name)
	}
	return types.NewTypeTypeWithParam(types.NewObjectType(name)), len(c.typesOf(name)) > 0
}

// FindStructFieldType implements types.Provider. Any value may be in the field of a
// constructor, as CEL itself has no alternatives: see misfits.
func (c *constructors) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if !isConstructor(name) {
		return c.typeTable.FindStructFieldType(name, field)
	}
	return &types.FieldType{Type: cel.DynType}, len(c.fieldTypes(name, field)) > 0
}
