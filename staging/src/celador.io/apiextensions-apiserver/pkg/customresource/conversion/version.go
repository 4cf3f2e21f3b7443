// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
)

// A typedVersion is a version with the types of its objects: as the source of a conversion, which
// rules read, and as its target, which rules construct. It is immutable and safe for concurrent
// use.
type typedVersion struct {
	name string
	// schema is the version's own schema.
	schema *structuralschema.Structural
	// source returns the schema and the type of objects that rules read.
	source func() sourceTypes
	// target returns the schema and the types of objects that rules write.
	target func() targetTypes
}

type sourceTypes struct {
	schema *structuralschema.Structural
	self   *apiservercel.DeclType
}

type targetTypes struct {
	schema *structuralschema.Structural
	types  *ruleresult.ObjectTypes
}

// newTypedVersion returns a version with the types of its objects, which are built when they are
// first used. Objects have no namespace if they are clusterScoped.
func newTypedVersion(v Version, clusterScoped bool) *typedVersion {
	return &typedVersion{
		name:   v.Name,
		schema: v.Schema,
		source: sync.OnceValue(func() sourceTypes {
			s := sourceSchema(v.Schema, clusterScoped)
			// The name appears in the errors of the type checker. An expression cannot contain it,
			// so it does not take the place of a variable.
			self := ruleresult.NameTypes(schemaexpression.OpenDeclType(&model.Structural{Structural: s}, true), "object("+v.Name+")")
			return sourceTypes{schema: s, self: self}
		}),
		target: sync.OnceValue(func() targetTypes {
			s := ruleresult.SettableSchema(v.Schema)
			return targetTypes{schema: s, types: ruleresult.NewObjectTypes(s)}
		}),
	}
}

// selfAt returns the type of the value that a scope leads to, and the declared limits of the lists
// and maps on the way. The type is nil if expressions cannot read the value.
func (s sourceTypes) selfAt(scope rulepath.Path) (self *apiservercel.DeclType, repetitions []int64) {
	self = s.self
	for _, step := range scope {
		switch {
		case step.Each:
			repetitions = append(repetitions, self.MaxElements)
			self = self.ElemType
		case self.ElemType != nil:
			self = self.ElemType
		default:
			name, ok := apiservercel.Escape(step.Name)
			if !ok {
				return nil, nil
			}
			field, ok := self.Fields[name]
			if !ok {
				return nil, nil
			}
			self = field.Type
		}
		if self == nil {
			return nil, nil
		}
	}
	return self, repetitions
}
