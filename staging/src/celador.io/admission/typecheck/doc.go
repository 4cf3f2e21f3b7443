// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typecheck checks the expressions of policies against the schemas of the types that the
// policies name (KEP-3488, "Type safety").
//
// Requests are evaluated without schemas, so findings do not affect requests by themselves. A
// VerdictStore tells the engine which Enforced policies may decide.
//
// # Validating policies
//
// For validations and their messages, the findings and their texts are those of Kubernetes, except
// where Kubernetes reports errors that evaluation does not have, or misses errors that it has:
//
//   - Values of type string are strings whatever their format (date-time, byte). Those with a time
//     format may be null.
//   - Values of type number are dynamic: an int if they have no fraction, else a double.
//   - Fields that the schema does not specify completely are dynamic: unknown fields that are
//     preserved, values without a type, objects without properties, unresolved references.
//   - Objects may be used as maps, as at run time: lists of objects of different types may be
//     concatenated, and an object and {} may be the alternatives of a conditional.
//   - Nullable values may be null. The alternatives of '?:' and orValue() may be null, too.
//   - Variables have the types of their expressions, object types included.
//   - 'authorizer.requestResource' is declared, and 'authorizer' is not declared in messages.
//   - The core group "" matches only itself, not all groups.
//
// A field that the schema does not have is an error even if has() or another condition keeps it
// from being read. Finding.Guarded is set if has() does, in the expression itself or in a condition
// of it; Enforced policies may have such errors. 'oldObject' has the type of 'object' for all
// operations, also for CREATE, where it is null: one expression often serves several operations.
//
// The types behind "*" are not known, and have no findings. An Enforced policy may read only the
// metadata of their objects, and fields that has() guards.
//
// # Mutating policies
//
// Kubernetes does not check mutating policies. Their expressions have the declarations of
// validations, and the elements of a list, the values of a map and the alternatives of a
// conditional may have different types, as at run time. Objects that mutations construct are
// checked as follows:
//
//   - Object has the fields of the matched type, Object.spec the fields of its field spec, and so
//     on. For a list or map, the constructor has the fields of the elements or values; a map may
//     also be constructed as an object with its keys as fields. Field names are not escaped.
//   - The value of a field must have the type of the field. A field of object type takes its
//     constructor, a map, or an object that the expression reads. A numeric field takes any number.
//     A string field takes any value that is a string in JSON, such as a timestamp.
//   - Null is assignable to every field, since it deletes in merge patches, and so are dynamic
//     values.
//   - A constructor is assignable only to its own field, also in lists and in the value of a JSON
//     patch, where the server does not check it.
//   - Not checked are the entries of maps that stand for objects, the paths of JSON patches, and
//     whether lists and maps can be merged.
package typecheck
