// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// An enumeration holds the values that a field can have. Errors list them in this order.
type enumeration[T ~string] []T

// oneOf returns an enumeration of the values.
func oneOf[T ~string](values ...T) enumeration[T] { return values }

// check returns an error for a value that is not in the enumeration.
func (e enumeration[T]) check(path *field.Path, value *T) field.ErrorList {
	return when(!slices.Contains(e, *value), field.NotSupported(path, *value, e))
}

// required checks a value. It returns an error if the value is missing.
func (e enumeration[T]) required(path *field.Path, value *T) field.ErrorList {
	if value == nil {
		return e.missing(path)
	}
	return e.check(path, value)
}

// unlessEmpty returns nil for an empty value, because Kubernetes treats it as missing.
func unlessEmpty[T ~string](value *T) *T {
	if value == nil || *value == "" {
		return nil
	}
	return value
}

// missing returns the error for a required value that is missing. Unlike Kubernetes' error, it
// lists the values that are supported.
func (e enumeration[T]) missing(path *field.Path) field.ErrorList {
	quoted := make([]string, len(e))
	for i, value := range e {
		quoted[i] = strconv.Quote(string(value))
	}
	return missing(path, "supported values: "+strings.Join(quoted, ", "))
}
