// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typecheck checks the expressions of policies against the schemas of the types
// that the policies name (KEP-3488, "Type safety").
//
// Requests are evaluated without schemas, so findings change nothing by themselves. For
// what Kubernetes checks too, validations and their messages, verdict and text are those of
// Kubernetes, except where it takes something for what it is not when expressions run. Here:
//
//   - Strings are strings, whatever their format (date-time, byte), and times may be null.
//   - Numbers are int or double, as each value is.
//   - What a schema leaves open is not wrong: unknown fields that are preserved, values
//     without a type, objects without properties, references that are not resolved.
//   - Objects may be used as the maps that they are: lists of different objects add up, and
//     an object and {} are alternatives.
//   - Nullable values may be null, and so may the alternatives of '?:' and orValue().
//   - Variables have the types of their expressions, objects included.
//   - 'authorizer.requestResource' is known, and messages do not have an 'authorizer'.
//   - The core group, "", is not all groups.
//
// A field that the schema does not have is reported even if has() or another condition
// keeps it from being read. The finding says if has() does, and another type has the field.
// 'oldObject' has the type of 'object' for all operations, also
// where it is always null, as in rules for CREATE: expressions may well look first.
package typecheck
