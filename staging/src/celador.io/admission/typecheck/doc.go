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
// keeps it from being read. The finding says if has() does, in the expression itself or in a
// condition that decides about it, and another type has the field.
// 'oldObject' has the type of 'object' for all operations, also
// where it is always null, as in rules for CREATE: expressions may well look first.
//
// Kubernetes does not check mutating policies. Here, their expressions may read the same as
// those of validations, and lists, maps and alternatives may have values of different types,
// which are the same to an expression that is evaluated. Of what mutations construct:
//
//   - Object has the fields of the type, Object.spec those of its field spec, and so on. For
//     a list or a map, that is the type of what is in it; a map may also be written as an
//     object, the fields of which are its keys. Names of fields are not escaped.
//   - A value has to have the type of its field. An object may be its constructor, a map, or
//     something that is read. A number may be any, and what has a text in JSON, such as a
//     timestamp, may be one.
//   - Null is right everywhere, as it deletes in merge patches, and so is what is not known.
//   - A constructor stands for its own field only, also in lists in the value of a JSON
//     patch, where the server does not notice another.
//   - The entries of a map in the place of an object are not looked at, nor are paths of JSON
//     patches, and whether lists and maps can be merged.
package typecheck
