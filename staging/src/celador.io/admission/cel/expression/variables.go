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
	Lookups         = "lookups"
	Item            = "item"
	Self            = "self"
	OldSelf         = "oldSelf"
	Path            = "path"
)

// Declarations selects the optional variables that an expression may read. Object, OldObject,
// Request and NamespaceObject are declared unless Item is set.
type Declarations struct {
	// Params declares 'params', for policies with a paramKind.
	Params bool
	// Authorizer declares 'authorizer' and 'authorizer.requestResource'.
	Authorizer bool
	// Patches declares the types of mutations, JSONPatch and Object with the types of its fields,
	// and the function jsonpatch.escapeKey.
	Patches bool
	// Lookups declares 'lookups' with the lookups of Composition.DeclareLookups.
	Lookups bool
	// Self declares 'self', 'oldSelf' and 'path', for the expression and the message of a
	// validation with a scope. Patches, which is for mutations, is not set with it.
	Self bool
	// Item declares 'item', and no other variable. No other field is set with it.
	Item bool
}
