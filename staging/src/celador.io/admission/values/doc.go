// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package values lets CEL read typed Go objects as if they were their JSON form:
// fields go by JSON name, omitted fields are absent, pointers are what they point to,
// and types with a JSON form of their own have that form.
//
// Expressions see the value that Of returns as they see that of
// k8s.io/apiserver/pkg/cel/common.SchemalessTypedToVal, at the same cost. They see the value
// that OfUnstructured returns as that of an object converted to maps and lists. Both functions
// are faster than Kubernetes' conversions: how to read a type is worked out once for each type,
// and a value caches the parts that were read, so reading the same path again allocates
// nothing.
//
// Objects are neither copied nor changed, and must not change while their values are
// in use. A value belongs to one request: its use by two goroutines at a time is a race.
package values
