// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/expression"
)

// variablesType is the name of the type of 'variables'.
const variablesType = "kubernetes.variables"

// maxPath limits the path from a resource to a value in bytes, and maxNesting the lists and maps on
// it. Values beyond the limits are of dynamic type, which bounds the cost of recursive schemas.
const (
	maxPath    = 4096
	maxNesting = 32
)

// typeTable is a type provider that converts schemas to CEL types. It converts the schema of a
// field when an expression first reads the field, so that the size of a schema and recursion in it
// do not matter. It is not safe for concurrent use.
type typeTable struct {
	// Provider has the types that do not come from schemas.
	types.Provider
	// objects holds all object types that the table has returned, by name.
	objects map[string]object
	// variables holds the types of the policy's variables, by name.
	variables map[string]*cel.Type
	// lookups holds the types of the policy's lookups, by name.
	lookups map[string]*cel.Type
}

// object is an object type.
type object struct {
	*spec.Schema
	// resource is set if the objects have apiVersion, kind and metadata, whether the schema
	// specifies them or not.
	resource bool
	// open is set if objects may have fields that are not specified.
	open bool
}

func newTypeTable(others types.Provider) *typeTable {
	return &typeTable{Provider: others, objects: map[string]object{}, variables: map[string]*cel.Type{}, lookups: map[string]*cel.Type{}}
}

// root returns the CEL type of a resource.
func (t *typeTable) root(d resolvedType) *cel.Type {
	if d.schema == nil {
		return cel.DynType
	}
	// The slash keeps the name from being an identifier in expressions.
	return t.typeOf(d.kind.Group+"/"+d.kind.Version+"."+d.kind.Kind, d.schema, true)
}

// typeOf returns the CEL type of the values of a schema. name is the path to the value; it becomes
// the name of an object type. resource is set for values with apiVersion, kind and metadata.
func (t *typeTable) typeOf(name string, s *spec.Schema, resource bool) *cel.Type {
	extended := openapi.Schema{Schema: s}
	kind, nullable := jsonType(s)
	resource = resource || extended.IsXEmbeddedResource()
	switch {
	case extended.IsXIntOrString() || len(name) > maxPath || strings.Count(name, ".@") > maxNesting:
		return cel.DynType
	case kind == "object" && (resource || len(s.Properties) > 0):
		anything := len(s.Properties) == 0 || s.AdditionalProperties != nil && s.AdditionalProperties.Allows
		t.objects[name] = object{s, resource, anything || extended.IsXPreserveUnknownFields()}
		return cel.ObjectType(name)
	case scalars[kind] != nil && (nullable || nullableFormats[s.Format]):
		return cel.NullableType(scalars[kind])
	case scalars[kind] != nil:
		return scalars[kind]
	case nullable:
		return cel.DynType
	case kind == "array":
		return cel.ListType(t.elementOf(name+".@idx", itemsOf(s)))
	case kind == "object":
		return cel.MapType(cel.StringType, t.elementOf(name+".@elem", additionalOf(s)))
	default:
		// A "number" without a fraction is an int at run time.
		return cel.DynType
	}
}

var scalars = map[string]*cel.Type{"boolean": cel.BoolType, "integer": cel.IntType, "string": cel.StringType}

// nullableFormats are formats whose values may be null even if the schema is not nullable: a zero
// time is null in JSON.
var nullableFormats = map[string]bool{"date-time": true, "date": true, "duration": true}

// jsonType returns the JSON type of values that are not null, or "" if there are several.
func jsonType(s *spec.Schema) (kind string, nullable bool) {
	kinds := slices.DeleteFunc(slices.Clone(s.Type), func(kind string) bool { return kind == "null" })
	nullable = s.Nullable || len(kinds) < len(s.Type)
	if len(kinds) != 1 {
		return "", nullable
	}
	return kinds[0], nullable
}

func (t *typeTable) elementOf(name string, s *spec.Schema) *cel.Type {
	if s == nil {
		return cel.DynType
	}
	return t.typeOf(name, s, false)
}

func itemsOf(s *spec.Schema) *spec.Schema {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

func additionalOf(s *spec.Schema) *spec.Schema {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

// FindStructType implements types.Provider.
func (t *typeTable) FindStructType(name string) (*types.Type, bool) {
	if _, ok := t.objects[name]; ok || name == variablesType || name == expression.LookupsTypeName {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return t.Provider.FindStructType(name)
}

// FindStructFieldType implements types.Provider.
func (t *typeTable) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if name == variablesType {
		variable, ok := t.variables[field]
		return &types.FieldType{Type: variable}, ok
	}
	if name == expression.LookupsTypeName {
		lookup, ok := t.lookups[field]
		return &types.FieldType{Type: lookup}, ok
	}
	if o, ok := t.objects[name]; ok {
		found := t.fieldOf(name, o, field)
		return &types.FieldType{Type: found}, found != nil
	}
	return t.Provider.FindStructFieldType(name, field)
}

// fieldOf returns the type of a field of the named object type, or nil if there is no such field.
func (t *typeTable) fieldOf(name string, o object, field string) *cel.Type {
	property, declared := o.Properties[field]
	name += "." + segment(field)
	switch {
	case o.resource && field == "metadata" && !describesMetadata(&property):
		t.objects[name] = object{Schema: &property, open: true}
		return cel.ObjectType(name)
	case declared:
		return t.typeOf(name, &property, false)
	case o.resource && (field == "apiVersion" || field == "kind"):
		return cel.StringType
	case additionalOf(o.Schema) != nil:
		return t.typeOf(name, additionalOf(o.Schema), false)
	case o.open:
		return cel.DynType
	default:
		return nil
	}
}

// describesMetadata reports whether the schema is a full schema of ObjectMeta. A custom resource
// can only specify restrictions on name and generateName.
func describesMetadata(s *spec.Schema) bool {
	for property := range s.Properties {
		if property != "name" && property != "generateName" {
			return true
		}
	}
	return false
}

// segment returns the name of a field as part of the name of a type.
func segment(field string) string {
	if escaped, ok := apiservercel.Escape(field); ok {
		return escaped
	}
	return strconv.Quote(field)
}
