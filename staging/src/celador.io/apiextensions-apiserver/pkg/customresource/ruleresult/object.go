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
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/schemaexpression"
)

// An objectType is the type of objects that rules construct. It implements common.ResolvedType.
type objectType struct {
	// celType is the CEL type of the objects. Object types of the same structure have the same one.
	celType *types.Type
	schema  *structuralschema.Structural
	// structure is a digest of the fields of the type. Types with equal structures get the same CEL
	// type. comparable tells whether structure is set. It is not set if expressions see other
	// fields in such an object than those of the schema.
	structure  structure
	comparable bool
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

// field returns the schema of a field by its name in expressions. It returns false if there is no
// such field, and a nil schema for an unknown field of an object that preserves those.
func (t *objectType) field(name string) (*structuralschema.Structural, bool) {
	if property, ok := apiservercel.Unescape(name); ok {
		if schema, ok := t.schema.Properties[property]; ok {
			return &schema, true
		}
	}
	return nil, PreservesUnknown(t.schema)
}

// Field implements common.ResolvedType. All fields have dynamic type, so that a field may be set to
// an object of self: cel-go compares types of objects by name, and would refuse it.
// ObjectTypes.CheckField compares types by structure instead.
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

// An object is an object that a rule has constructed. Expressions read it like an object of self:
// as a map, in which a field that the constructor leaves or makes unset has no entry. It is
// immutable.
type object struct {
	objectType *objectType
	// fields holds the fields by their names in expressions.
	fields map[string]ref.Val
}

var (
	_ traits.Mapper      = (*object)(nil)
	_ traits.FieldTester = (*object)(nil)
	_ traits.Zeroer      = (*object)(nil)
)

// ConvertToNative implements ref.Val. No function needs a Go value of an object: a result is
// converted by Assign.
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

// Equal implements ref.Val. It compares the object with an object that was read. A comparison with
// another constructed object ends the evaluation, because comparing objects that contain an object
// twice takes exponential time. Returning an error would not be enough, since cel-go takes it for
// equality when it compares items of lists.
func (o *object) Equal(other ref.Val) ref.Val {
	m, ok := other.(traits.Mapper)
	if !ok {
		return types.False
	}
	if _, ok := m.(*object); ok {
		panic(errCompared)
	}
	equal, ok := m.Equal(o).(types.Bool)
	if !ok {
		panic(errCompared)
	}
	return equal
}

var errCompared = interpreter.EvalCancelledError{
	Message: "constructed objects cannot be compared: compare the values that they are made from", Cause: interpreter.CostLimitExceeded,
}

// Size implements traits.Sizer.
func (o *object) Size() ref.Val {
	size := 0
	for name := range o.fields {
		if _, ok := o.Find(types.String(name)); ok {
			size++
		}
	}
	return types.Int(size)
}

// Iterator implements traits.Iterable. It ends the evaluation as Equal does, because comparisons
// iterate over objects to estimate their time.
func (o *object) Iterator() traits.Iterator { panic(errCompared) }

// Type implements ref.Val.
func (o *object) Type() ref.Type { return o.objectType.Type() }

// Value implements ref.Val.
func (o *object) Value() any { return o }

// Find implements traits.Mapper. key is the name of a field in expressions or, in comparisons, in
// the schema. The value has the type that a field of self has.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	value, ok := o.fields[string(name)]
	if !ok {
		escaped, _ := apiservercel.Escape(string(name))
		if value, ok = o.fields[escaped]; !ok {
			return nil, false
		}
		name = types.String(escaped)
	}
	schema, known := o.objectType.field(string(name))
	if value = valueOf(value); value == nil || value == types.NullValue && !(known && (schema == nil || schema.Nullable || IsAny(schema))) {
		return nil, false
	}
	if schema != nil {
		value = asRead(value, schema)
	}
	return value, true
}

// asRead returns a scalar with the type that expressions read it with: numbers are double, and
// texts of some formats are not strings.
func asRead(value ref.Val, schema *structuralschema.Structural) ref.Val {
	switch v := value.(type) {
	case types.Int, types.Uint:
		if schema.Type == "number" && !schema.XIntOrString {
			return value.ConvertToType(types.DoubleType)
		}
	case types.String:
		if schema.Type == "string" && formatOf(schema) != "" {
			return schemaexpression.Value(string(v), schemaexpression.NewSchema(&model.Structural{Structural: schema}))
		}
	}
	return value
}

// Get implements traits.Indexer.
func (o *object) Get(key ref.Val) ref.Val {
	if value, ok := o.Find(key); ok {
		return value
	}
	return types.NewErr("no such key: %v", key)
}

// Contains implements traits.Container.
func (o *object) Contains(key ref.Val) ref.Val {
	value, ok := o.Find(key)
	if ok && types.IsUnknownOrError(value) {
		return value
	}
	return types.Bool(ok)
}

// IsSet implements traits.FieldTester.
func (o *object) IsSet(field ref.Val) ref.Val { return o.Contains(field) }

// IsZeroValue implements traits.Zeroer.
func (o *object) IsZeroValue() bool { return len(o.fields) == 0 }
