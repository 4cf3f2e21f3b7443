// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check returns the errors of the value at a path, or nil if the value is valid.
type check[T any] func(path *field.Path, value *T) field.ErrorList

// required applies a check to a value. It returns an error if the value is missing.
func required[T any](path *field.Path, value *T, checkValue check[T]) field.ErrorList {
	if value == nil {
		return missing(path, "")
	}
	return checkValue(path, value)
}

// optional applies a check to a value unless it is missing.
func optional[T any](path *field.Path, value *T, checkValue check[T]) field.ErrorList {
	if value == nil {
		return nil
	}
	return checkValue(path, value)
}

// unlessStored returns a check that is checkValue, but accepts values that equal one of the stored
// values: a later version of the server may have accepted a value that this version does not know.
func unlessStored[T comparable](checkValue check[T], stored ...*T) check[T] {
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

// once returns a check that rejects a value that it has already checked.
func once[T comparable]() check[T] {
	seen := map[T]bool{}
	return func(path *field.Path, value *T) field.ErrorList {
		duplicate := seen[*value]
		seen[*value] = true
		return when(duplicate, field.Duplicate(path, *value))
	}
}

// when returns the error if the condition is true, and nil otherwise.
func when(condition bool, err *field.Error) field.ErrorList {
	if !condition {
		return nil
	}
	return field.ErrorList{err}
}

// missing returns the error for a required value that is missing.
func missing(path *field.Path, detail string) field.ErrorList {
	return field.ErrorList{field.Required(path, detail)}
}

// invalid returns an error for each message about a value.
func invalid(path *field.Path, value any, messages ...string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// distinct removes errors with the same text as an earlier one. Two labels with the same invalid
// value have such errors.
func distinct(errs field.ErrorList) field.ErrorList {
	return errs.Filter() // Filter without matchers only removes duplicates
}
