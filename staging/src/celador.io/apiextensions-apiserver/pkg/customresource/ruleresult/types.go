// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ruleresult checks the types of the results of conversion rules and default rules, and
// converts results to unstructured values.
//
// ObjectTypes declares the objects that a rule may construct. Assignable compares the static type
// of a rule with the schema of the field when the CustomResourceDefinition is written. Assign
// converts the result of an evaluation, and checks what has dynamic type.
package ruleresult

import (
	"errors"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// ObjectType is the name of the type with which rules construct a whole object of a version, or
// parts of it, as in Object.spec{replicas: 1}. The type of self must have another name, because CEL
// tells types apart by name.
const ObjectType = "Object"

// ObjectTypes resolves the types of the objects that a rule may construct: Object, whose fields are
// those of a schema, and Object.spec, Object.spec.endpoints and so on for the objects, list items
// and map values in it. It implements common.TypeResolver and schemaexpression.FieldChecker, is
// immutable and safe for concurrent use.
type ObjectTypes struct {
	byName map[string]*objectType
}

// NewObjectTypes returns the types of the objects that rules may construct in a version with the
// given schema. Object has the fields of SettableSchema, because rules must not set the others.
func NewObjectTypes(root *structuralschema.Structural) *ObjectTypes {
	t := &ObjectTypes{byName: map[string]*objectType{}}
	target := SettableSchema(root)
	t.add(ObjectType, target, schemaexpression.OpenDeclType(&model.Structural{Structural: target}, false), map[structure]*types.Type{})
	return t
}

// add adds the types with which rules construct the objects in a schema: one with the given name
// for an object of the schema itself, and one with the name of the path below it for each object
// inside. declared is the type that expressions have for values of the schema, or nil. first holds,
// by structure, the types that were added first: later ones with the same structure get the same
// CEL type.
func (t *ObjectTypes) add(name string, schema *structuralschema.Structural, declared *apiservercel.DeclType, first map[structure]*types.Type) {
	for {
		if schema.Items != nil {
			schema = schema.Items
		} else if values := ruleschema.Values(schema); values != nil {
			schema = values
		} else {
			break
		}
		if declared != nil {
			declared = declared.ElemType
		}
	}
	if schema.Type != "object" {
		return
	}
	object := &objectType{celType: types.NewObjectType(name), schema: schema}
	t.byName[name] = object
	if object.comparable = declaresAll(declared, schema); object.comparable {
		object.structure = structureOf(declared)
		if other, ok := first[object.structure]; ok {
			object.celType = other
		} else {
			first[object.structure] = object.celType
		}
	}
	for _, property := range slices.Sorted(maps.Keys(schema.Properties)) {
		if escaped, ok := apiservercel.Escape(property); ok {
			var inside *apiservercel.DeclType
			if field, ok := fieldOf(declared, escaped); ok {
				inside = field.Type
			}
			field := schema.Properties[property]
			t.add(name+"."+escaped, &field, inside, first)
		}
	}
}

func fieldOf(declared *apiservercel.DeclType, name string) (*apiservercel.DeclField, bool) {
	if declared == nil {
		return nil, false
	}
	return declared.FindField(name)
}

// declaresAll reports whether declared, the type of values in expressions, has exactly the fields
// that constructors of objects with the schema have. Only then can its structure tell which types
// have the same fields.
func declaresAll(declared *apiservercel.DeclType, schema *structuralschema.Structural) bool {
	if declared == nil || !declared.IsObject() || PreservesUnknown(schema) || len(declared.Fields) != len(schema.Properties) {
		return false
	}
	for property := range schema.Properties {
		escaped, ok := apiservercel.Escape(property)
		if !ok {
			return false
		}
		if _, ok := declared.FindField(escaped); !ok {
			return false
		}
	}
	return true
}

// SettableSchema returns the schema of what rules may set in an object of a version: the properties
// of the version's schema without apiVersion and kind, and of metadata only labels and annotations.
// It does not change root.
func SettableSchema(root *structuralschema.Structural) *structuralschema.Structural {
	target := *root
	target.Properties = make(map[string]structuralschema.Structural, len(root.Properties)+1)
	maps.Copy(target.Properties, root.Properties)
	delete(target.Properties, "apiVersion")
	delete(target.Properties, "kind")
	// Rules may set only labels and annotations, because Kubernetes sets the other fields of
	// metadata itself. Schemas of versions do not describe the two, so their types are added.
	texts := structuralschema.Structural{
		Generic: structuralschema.Generic{Type: "object"},
		AdditionalProperties: &structuralschema.StructuralOrBool{
			Structural: &structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}},
		},
	}
	target.Properties["metadata"] = structuralschema.Structural{
		Generic:    structuralschema.Generic{Type: "object"},
		Properties: map[string]structuralschema.Structural{"annotations": texts, "labels": texts},
	}
	return &target
}

// Resolve implements common.TypeResolver.
func (t *ObjectTypes) Resolve(name string) (common.ResolvedType, bool) {
	resolved, ok := t.byName[name]
	if !ok {
		return nil, false
	}
	return resolved, true
}

// CheckField returns an error, which says what to do, if a value of a static type cannot be the
// value of a field of a constructed object. It implements schemaexpression.FieldChecker: self is
// the type of self, or of Root if the expression has this variable.
func (t *ObjectTypes) CheckField(typeName, field string, value *cel.Type, self *apiservercel.DeclType) error {
	object, ok := t.byName[typeName]
	if !ok {
		return nil
	}
	schema, ok := object.field(field)
	if !ok || schema == nil {
		return nil
	}
	if m := t.assignable(value, self, schema); m != nil {
		property, _ := apiservercel.Unescape(field)
		return errors.New(m.below(rulepath.Segment{Name: property}).describe("the value is"))
	}
	return nil
}

// Assignable returns an error, which says what to do, if a rule whose result has the type output
// cannot set a field with the schema to. self is the type of the rule's self, in which object types
// of the result are looked up. Values of dynamic type are assignable: Assign checks them.
func (t *ObjectTypes) Assignable(output *cel.Type, self *apiservercel.DeclType, to *structuralschema.Structural) error {
	if m := t.assignable(output, self, to); m != nil {
		return m
	}
	return nil
}

func (t *ObjectTypes) assignable(output *cel.Type, self *apiservercel.DeclType, to *structuralschema.Structural) *mismatch {
	c := checker{types: t, self: self}
	return c.check(output, to)
}
