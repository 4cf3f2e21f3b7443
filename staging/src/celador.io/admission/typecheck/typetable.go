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
)

// variablesType is the name of the type of 'variables'.
const variablesType = "kubernetes.variables"

// How long the path to a value may be, in bytes, and how many lists and maps may be on it,
// for the type of the value to be known. What a circular schema costs is bound by this.
const (
	maxPath    = 4096
	maxNesting = 32
)

// typeTable has the CEL types that schemas describe. Types come into being as expressions
// read fields, so that neither the size of a schema nor a circle in it matters. Not safe for
// concurrent use.
type typeTable struct {
	// Provider has the types that do not come from schemas.
	types.Provider
	// objects are all object types handed out, by name.
	objects   map[string]object
	variables map[string]*cel.Type
}

// object is an object type.
type object struct {
	*spec.Schema
	// resource has apiVersion, kind and metadata, declared or not.
	resource bool
	// open is set when there may be fields that are not declared.
	open bool
}

func newTypeTable(others types.Provider) *typeTable {
	return &typeTable{Provider: others, objects: map[string]object{}, variables: map[string]*cel.Type{}}
}

// root returns the type of a resource.
func (t *typeTable) root(d description) *cel.Type {
	if d.schema == nil {
		return cel.DynType
	}
	// With the slash, no identifier of an expression is the name of a type.
	return t.typeOf(d.kind.Group+"/"+d.kind.Version+"."+d.kind.Kind, d.schema, true)
}

// typeOf returns the type of the values that a schema describes, as expressions see them.
// The name is the path to the value, and the type's own if that is an object type.
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
		// A "number" is an int where it has no fraction.
		return cel.DynType
	}
}

var scalars = map[string]*cel.Type{"boolean": cel.BoolType, "integer": cel.IntType, "string": cel.StringType}

// nullableFormats may be compared to null whatever the schema says. A zero time is null.
var nullableFormats = map[string]bool{"date-time": true, "date": true, "duration": true}

// jsonType returns the type of all values that are not null, or nothing if there may be
// several.
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
	if _, ok := t.objects[name]; ok || name == variablesType {
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
	if o, ok := t.objects[name]; ok {
		found := t.fieldOf(name, o, o.unescaped(field))
		return &types.FieldType{Type: found}, found != nil
	}
	return t.Provider.FindStructFieldType(name, field)
}

// unescaped returns the name of the field that an expression reads by that name.
func (o object) unescaped(field string) string {
	if _, declared := o.Properties[field]; declared {
		return field
	}
	if unescaped, ok := apiservercel.Unescape(field); ok {
		return unescaped
	}
	return field
}

// fieldOf returns nil when the object has no such field.
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

// describesMetadata tells the metadata of a resource from the restrictions on name and
// generateName that are all that a custom resource can declare.
func describesMetadata(s *spec.Schema) bool {
	for property := range s.Properties {
		if property != "name" && property != "generateName" {
			return true
		}
	}
	return false
}

// segment is the name of a field within the name of a type.
func segment(field string) string {
	if escaped, ok := apiservercel.Escape(field); ok {
		return escaped
	}
	return strconv.Quote(field)
}
