// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/runtime"
)

// OfUnstructured returns the CEL value of the unstructured form of an object: the value that
// types.DefaultTypeAdapter returns for the output of runtime.DefaultUnstructuredConverter.
// Expressions cannot tell the two apart, but OfUnstructured converts only parts that are compared,
// concatenated or converted, and reads all others from the object.
//
// A part that cannot be converted is a CEL error where it is used, whereas the converter fails for
// the whole object. OfUnstructured returns null for nil. It is safe for concurrent use; the
// returned value is not.
func OfUnstructured(object any) ref.Val { return unstructuredPlans.of(object) }

// unstructured converts a Go value as runtime.DefaultUnstructuredConverter does.
func unstructured(object reflect.Value) (any, error) {
	pointer := reflect.New(object.Type())
	pointer.Elem().Set(object)
	// The converter accepts only structs.
	holder := struct {
		Value any `json:"value"`
	}{pointer.Interface()}
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&holder)
	if err != nil {
		return nil, err
	}
	return converted["value"], nil
}

// A conversion holds the fields and methods that unstructuredList and unstructuredMap have in
// common. They read parts of a Go value from a view of it, and convert the whole to a list or map
// of cel-go when an operation such as a comparison first needs the whole.
type conversion[T interface {
	ref.Val
	traits.Sizer
}] struct {
	// typed is the view that Of returns for the same Go value.
	typed T
	// converted is the converted list or map, or a CEL error if a part cannot be converted. It is
	// nil before the first use of convert.
	converted ref.Val
}

func (c *conversion[T]) convert() ref.Val {
	if c.converted == nil {
		var err error
		if c.converted, err = Unstructured(c.typed); err != nil {
			c.converted = types.WrapErr(err)
		}
	}
	return c.converted
}

// Size implements traits.Sizer.
func (c *conversion[T]) Size() ref.Val { return c.typed.Size() }

// IsZeroValue implements traits.Zeroer.
func (c *conversion[T]) IsZeroValue() bool { return c.Size() == types.IntZero }

// Type implements ref.Val.
func (c *conversion[T]) Type() ref.Type { return c.typed.Type() }

// Value implements ref.Val.
func (c *conversion[T]) Value() any { return c.convert().Value() }

// ConvertToNative implements ref.Val.
func (c *conversion[T]) ConvertToNative(to reflect.Type) (any, error) {
	return c.convert().ConvertToNative(to)
}

// String implements fmt.Stringer.
func (c *conversion[T]) String() string { return fmt.Sprint(c.convert()) }
