// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package values lets CEL read typed Go objects as if they were their JSON form:
// fields go by JSON name, omitted fields are absent, pointers are what they point to,
// and types with a JSON form of their own have that form.
//
// What expressions see of the value that Of returns, and what it costs them, is what
// k8s.io/apiserver/pkg/cel/common.SchemalessTypedToVal shows. OfUnstructured returns what
// they see of an object that was converted to maps and lists. Both are faster because how
// to read a type is worked out once for each type, and because a value remembers what
// was read from it: reading the same path again finds the same value and allocates
// nothing.
//
// Objects are neither copied nor changed, and must not change while their values are
// in use. A value belongs to one request: its use by two goroutines at a time is a race.
package values
