// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check reports what is wrong with the value at a path; nil when nothing is.
type check[T any] func(path *field.Path, value *T) field.ErrorList

// required applies a check to a value that must not be missing.
func required[T any](path *field.Path, value *T, checkValue check[T]) field.ErrorList {
	if value == nil {
		return missing(path, "")
	}
	return checkValue(path, value)
}

// optional applies a check to a value that may be missing.
func optional[T any](path *field.Path, value *T, checkValue check[T]) field.ErrorList {
	if value == nil {
		return nil
	}
	return checkValue(path, value)
}

// newly returns the check, but for values that are stored already: a later version
// of the server may have accepted what this one does not know.
func newly[T comparable](checkValue check[T], stored ...*T) check[T] {
	return func(path *field.Path, value *T) field.ErrorList {
		for _, known := range stored {
			if known != nil && *known == *value {
				return nil
			}
		}
		return checkValue(path, value)
	}
}

// each applies a check to every item of a list, in order.
func each[T any](path *field.Path, items []T, checkItem check[T]) field.ErrorList {
	var errs field.ErrorList
	for i := range items {
		errs = append(errs, checkItem(path.Index(i), &items[i])...)
	}
	return errs
}

// oneOf returns a check for an enumeration. The error lists the values in the
// order given here, which for most fields is alphabetical.
func oneOf[T ~string](values ...T) check[T] {
	return func(path *field.Path, value *T) field.ErrorList {
		return when(!slices.Contains(values, *value), field.NotSupported(path, *value, values))
	}
}

// once returns a check that reports values which it has been given before.
func once[T comparable]() check[T] {
	seen := map[T]bool{}
	return func(path *field.Path, value *T) field.ErrorList {
		again := seen[*value]
		seen[*value] = true
		return when(again, field.Duplicate(path, *value))
	}
}

// when is the error as a list if the condition holds, else nil.
func when(condition bool, err *field.Error) field.ErrorList {
	if !condition {
		return nil
	}
	return field.ErrorList{err}
}

// missing says that a value is required.
func missing(path *field.Path, detail string) field.ErrorList {
	return field.ErrorList{field.Required(path, detail)}
}

// invalid turns complaints about one value into errors.
func invalid(path *field.Path, value any, complaints ...string) field.ErrorList {
	var errs field.ErrorList
	for _, complaint := range complaints {
		errs = append(errs, field.Invalid(path, value, complaint))
	}
	return errs
}

// distinct drops errors that read the same as an earlier one: two labels, say,
// that share a bad value.
func distinct(errs field.ErrorList) field.ErrorList {
	return errs.Filter() // it sees to that before any filtering
}
