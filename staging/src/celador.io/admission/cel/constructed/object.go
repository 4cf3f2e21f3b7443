// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package constructed has the objects that expressions construct, such as Object.spec{replicas: 5}.
package constructed

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"celador.io/admission/cel/values"
)

// An Object is an object that an expression constructs. In expressions and conversions it behaves
// as Kubernetes' dynamic.ObjectVal. It also returns its fields as CEL values, which
// dynamic.ObjectVal does not: converting them can take exponential time, so callers measure and
// merge the fields instead. Immutable.
type Object struct {
	objectType *types.Type
	fields     map[string]ref.Val
}

// New returns an object of a type, such as Object.spec. It keeps a reference to fields, which must
// not change afterwards.
func New(objectType *types.Type, fields map[string]ref.Val) *Object {
	return &Object{objectType, fields}
}

// Fields returns the fields of the object. The caller must not change the map.
func (o *Object) Fields() map[string]ref.Val { return o.fields }

// TypeName returns the name of the object's type, such as Object.spec.
func (o *Object) TypeName() string { return o.objectType.TypeName() }

// converter returns an equal object of Kubernetes' type, to convert o in Kubernetes' way. The
// fields stay as they are: nested Objects are converted by their own Value methods.
func (o *Object) converter() *dynamic.ObjectVal { return dynamic.NewObjectVal(o.objectType, o.fields) }

// ConvertToNative implements ref.Val.
func (o *Object) ConvertToNative(native reflect.Type) (any, error) {
	return o.converter().ConvertToNative(native)
}

// ConvertToType implements ref.Val.
func (o *Object) ConvertToType(to ref.Type) ref.Val {
	if to.TypeName() == o.TypeName() {
		return o
	}
	return o.converter().ConvertToType(to)
}

// Equal implements ref.Val. Like Kubernetes, it compares the Go values of the fields, so 1 and 1.0
// differ.
func (o *Object) Equal(other ref.Val) ref.Val {
	object, ok := other.(*Object)
	return types.Bool(ok && o.TypeName() == object.TypeName() && reflect.DeepEqual(o.fields, object.fields))
}

// Type implements ref.Val.
func (o *Object) Type() ref.Type { return o.objectType }

// Value implements ref.Val. It returns a map[string]any, or an error.
func (o *Object) Value() any { return o.converter().Value() }

// IsZeroValue implements traits.Zeroer.
func (o *Object) IsZeroValue() bool { return len(o.fields) == 0 }

// CheckTypeNames returns an error if a nested object has a type name other than the path of its
// field: an Object.metadata in the field spec, for example. Lists and maps do not count as parts of
// the path. The text of the error is Kubernetes'.
func (o *Object) CheckTypeNames() error { return errors.Join(mismatches(nil, o, o.TypeName())...) }

// mismatches appends an error to found for each object that v is or contains, and whose type name
// is not the path of the object. path is the path of v, such as Object.spec.
func mismatches(found []error, v ref.Val, path string) []error {
	if object, ok := v.(*Object); ok {
		if object.TypeName() != path {
			found = append(found, fmt.Errorf("unexpected type name %q, expected %q, which matches field name path from root Object type", object.TypeName(), path))
		}
		for name, field := range object.fields {
			found = mismatches(found, field, path+"."+name)
		}
		return found
	}
	elements, _ := values.LiteralElements(v)
	for _, element := range elements {
		found = mismatches(found, element, path)
	}
	entries, _ := values.LiteralEntries(v)
	for _, value := range entries {
		found = mismatches(found, value, path)
	}
	return found
}
