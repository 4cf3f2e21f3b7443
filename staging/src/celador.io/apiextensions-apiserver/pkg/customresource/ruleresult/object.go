// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// An objectType is the type of objects that rules construct. It implements common.ResolvedType.
type objectType struct {
	celType *types.Type
	schema  *structuralschema.Structural
}

// HasTrait implements ref.Type.
func (t *objectType) HasTrait(trait int) bool { return t.celType.HasTrait(trait) }

// TypeName implements ref.Type.
func (t *objectType) TypeName() string { return t.celType.TypeName() }

// Type implements common.ResolvedType.
func (t *objectType) Type() *types.Type { return t.celType }

// Val implements common.ResolvedType.
func (t *objectType) Val(fields map[string]ref.Val) ref.Val {
	return &object{t, fields}
}

// field returns the schema of a field by its name in expressions, and false if there is no such field. The schema of an
// unknown field of an object that preserves those is nil.
func (t *objectType) field(name string) (*structuralschema.Structural, bool) {
	if property, ok := apiservercel.Unescape(name); ok {
		if schema, ok := t.schema.Properties[property]; ok {
			return &schema, true
		}
	}
	return nil, PreservesUnknown(t.schema)
}

// Field implements common.ResolvedType. All fields have dynamic type, because cel-go compares types of objects by name,
// and a field may be set to an object of self. Types.CheckField compares by structure.
func (t *objectType) Field(name string) (*types.FieldType, bool) {
	if _, ok := t.field(name); !ok {
		return nil, false
	}
	return &types.FieldType{Type: types.DynType}, true
}

// FieldNames implements common.ResolvedType.
func (t *objectType) FieldNames() ([]string, bool) {
	names := make([]string, 0, len(t.schema.Properties))
	for property := range t.schema.Properties {
		if name, ok := apiservercel.Escape(property); ok {
			names = append(names, name)
		}
	}
	return names, true
}

// An object is an object that a rule has constructed. It is immutable.
type object struct {
	objectType *objectType
	// fields holds the fields by their names in expressions.
	fields map[string]ref.Val
}

var (
	_ traits.Indexer     = (*object)(nil)
	_ traits.FieldTester = (*object)(nil)
	_ traits.Zeroer      = (*object)(nil)
)

// ConvertToNative implements ref.Val. Objects leave expressions only through Assign.
func (o *object) ConvertToNative(to reflect.Type) (any, error) {
	return nil, fmt.Errorf("a constructed %s cannot be converted to %v", o.objectType.TypeName(), to)
}

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(to ref.Type) ref.Val {
	switch to {
	case types.TypeType:
		return o.objectType.Type()
	case o.objectType.Type():
		return o
	}
	return types.NewErr("a constructed %s cannot be converted to %s", o.objectType.TypeName(), to.TypeName())
}

// Equal implements ref.Val. It ends the evaluation: comparing objects that contain an object twice takes exponential time,
// and lists of cel-go take items whose comparison is an error for equal.
func (o *object) Equal(ref.Val) ref.Val {
	panic(interpreter.EvalCancelledError{
		Message: "constructed objects cannot be compared: compare the values that they are made from", Cause: interpreter.CostLimitExceeded,
	})
}

// Type implements ref.Val.
func (o *object) Type() ref.Type { return o.objectType.Type() }

// Value implements ref.Val.
func (o *object) Value() any { return o }

// Get implements traits.Indexer.
func (o *object) Get(index ref.Val) ref.Val {
	name, ok := index.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(index)
	}
	if value, ok := o.fields[string(name)]; ok {
		return value
	}
	return types.NewErr("no such key: %s", name)
}

// IsSet implements traits.FieldTester.
func (o *object) IsSet(field ref.Val) ref.Val {
	name, ok := field.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(field)
	}
	_, ok = o.fields[string(name)]
	return types.Bool(ok)
}

// IsZeroValue implements traits.Zeroer.
func (o *object) IsZeroValue() bool { return len(o.fields) == 0 }
