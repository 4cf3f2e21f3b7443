// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

// Names of the variables that expressions read.
const (
	Object          = "object"
	OldObject       = "oldObject"
	Request         = "request"
	NamespaceObject = "namespaceObject"
	Params          = "params"
	Authorizer      = "authorizer"
	RequestResource = "authorizer.requestResource"
	Variables       = "variables"
)

// Declarations says which of the optional variables are in scope. Object,
// OldObject, Request and NamespaceObject always are.
type Declarations struct {
	// Params declares 'params', for policies with a paramKind.
	Params bool
	// Authorizer declares 'authorizer' and 'authorizer.requestResource'.
	Authorizer bool
	// Patches declares the types of mutations, JSONPatch and Object with the types of
	// its fields, and the function jsonpatch.escapeKey.
	Patches bool
}
