// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package values provides views: CEL lists and maps that read a Go list, map or struct in place. A
// view looks like the JSON form of the object. Fields have their JSON names, omitted fields are
// absent, pointers are replaced by what they point to, and types with their own JSON encoding have
// that encoding.
//
// Of returns views that behave like the values of
// k8s.io/apiserver/pkg/cel/common.SchemalessTypedToVal, at the same CEL cost. OfUnstructured
// returns views that behave like maps and lists of an unstructured object. Both are faster than
// Kubernetes' conversions: the layout of a type is analyzed once, and a view caches the parts that
// were read, so reading the same path again allocates nothing.
//
// Schema.Value returns views of unstructured objects that behave like the values of
// k8s.io/apiserver/pkg/cel/common.UnstructuredToVal: an OpenAPI schema selects the fields, and says
// which strings are durations and which lists are sets.
//
// Views neither copy nor change objects, and the objects must not change while their views are in
// use. A view fills its caches when it is read, so it is not safe for concurrent use.
package values
