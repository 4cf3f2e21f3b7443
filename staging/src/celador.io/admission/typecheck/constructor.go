// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// maxAlternatives limits the number of types that a constructor may stand for. Nested maps multiply
// them. Beyond the limit, the constructor is of dynamic type.
const maxAlternatives = 8

// constructors is a type provider with the types that mutations construct: Object stands for the
// type of 'object', and Object.spec and so on for the types of its fields. It is not safe for
// concurrent use.
type constructors struct {
	*typeTable
	object *cel.Type
	// known caches the results of typesOf.
	known map[string][]*cel.Type
}

// newConstructors returns the constructors for mutations of objects of the given type. table
// converts the schemas of the object and its fields to types. others resolves the remaining types
// of mutations, such as JSONPatch.
func newConstructors(others types.Provider, table *typeTable, object *cel.Type) *constructors {
	extended := *table
	extended.Provider = others
	return &constructors{&extended, object, map[string][]*cel.Type{}}
}

func isConstructor(name string) bool {
	return name == mutation.ObjectTypeName || strings.HasPrefix(name, mutation.ObjectTypeName+".")
}

// constructorOf returns the name of the constructor that a subexpression calls, and false for other
// subexpressions.
func constructorOf(e ast.Expr) (string, bool) {
	if e.Kind() != ast.StructKind {
		return "", false
	}
	name := strings.TrimPrefix(e.AsStruct().TypeName(), ".")
	return name, isConstructor(name)
}

// typesOf returns the types of the schema that a constructor such as Object.spec stands for, or nil
// if there is no such constructor. For a field with a map it stands for two: the map itself, which
// an expression may write as an object with the keys as fields, and the values of the map.
func (c *constructors) typesOf(constructor string) []*cel.Type {
	if known, ok := c.known[constructor]; ok {
		return known
	}
	fieldTypes := []*cel.Type{c.object}
	if dot := strings.LastIndexByte(constructor, '.'); dot >= 0 {
		fieldTypes = c.fieldTypes(constructor[:dot], constructor[dot+1:])
	}
	var found []*cel.Type
	for _, t := range fieldTypes {
		found = addTypes(found, constructible(t)...)
	}
	if len(found) > maxAlternatives {
		found = []*cel.Type{cel.DynType}
	}
	c.known[constructor] = found
	return found
}

// constructible returns the types that the constructor of a field of type t may construct. There
// are no constructors for lists, so the constructor of a list's field constructs its elements. The
// constructor of a map's field constructs either the map, with the keys as fields, or a value of
// the map.
func constructible(t *cel.Type) []*cel.Type {
	switch t.Kind() {
	case types.StructKind, types.DynKind:
		return []*cel.Type{t}
	case types.ListKind:
		return constructible(t.Parameters()[0])
	case types.MapKind:
		return append([]*cel.Type{t}, constructible(t.Parameters()[1])...)
	default:
		return nil
	}
}

// fieldTypes returns the types that the field of a constructor may have, or nil if there is no such
// field. The name of the field is that in the schema, because constructors do not escape names.
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

// FindStructFieldType implements types.Provider. Fields of constructors are dynamic, because CEL
// has no type for several alternatives; checkAssignments checks them.
func (c *constructors) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if !isConstructor(name) {
		return c.typeTable.FindStructFieldType(name, field)
	}
	return &types.FieldType{Type: cel.DynType}, len(c.fieldTypes(name, field)) > 0
}
