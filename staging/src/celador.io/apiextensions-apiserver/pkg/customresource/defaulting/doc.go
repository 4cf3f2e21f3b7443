// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package defaulting checks and evaluates x-kubernetes-default: CEL expressions in the schema of a
// version, which set fields of custom resources that are unset.
//
// The rules of one version run in one pass over the object. The rules of a schema run before those
// of the schemas in it, in the order of the list; properties follow by name, then the values of
// maps by key and the items of lists by index. A rule sees the fields that earlier rules have set.
// An object that a rule creates gets its static defaults at once, before the rules in it run.
package defaulting
