// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import (
	"github.com/google/cel-go/cel"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"

	"celador.io/admission/cel/expression"
)

// Role is the part that an expression has in its policy. It determines what the expression
// reads and returns.
type Role int

const (
	// MatchCondition is the role of spec.matchConditions[].expression, for policies and
	// webhooks.
	MatchCondition Role = iota
	// Variable is the role of spec.variables[].expression.
	Variable
	// Validation is the role of spec.validations[].expression.
	Validation
	// Message is the role of spec.validations[].messageExpression.
	Message
	// AuditAnnotation is the role of spec.auditAnnotations[].valueExpression.
	AuditAnnotation
	// MutationCondition is the role of spec.mutations[].condition.
	MutationCondition
	// Patch is the role of the expression that computes the patch of a mutation.
	Patch
	// Index is the role of spec.lookups[].index. Servers evaluate it for the objects that they
	// cache, and not for requests.
	Index
)

// NamespaceFields is the part of the request's namespace that expressions read as
// 'namespaceObject'.
type NamespaceFields int

const (
	// WholeNamespace shows all fields.
	WholeNamespace NamespaceFields = iota
	// DeclaredNamespace shows only the fields that are declared to the CEL compiler.
	DeclaredNamespace
	// NoNamespace shows null.
	NoNamespace
)

// The types that mutations return.
var (
	JSONPatchType = cel.ObjectType(celmutation.JSONPatchTypeName)
	ObjectType    = cel.ObjectType(celmutation.ObjectTypeName)
)

// roles declares the properties of each role.
var roles = [...]struct {
	// declarations are the optional variables and types that expressions of the role are compiled
	// with. Params and Lookups are not set in them, because they depend on the policy.
	declarations expression.Declarations
	// noAuthorizer is set if evaluation does not provide 'authorizer', whatever declarations say.
	// Kubernetes declares it to audit annotations, but an annotation that reads it fails.
	noAuthorizer bool
	// namespace is the part of the namespace that expressions of the role read in Kubernetes.
	namespace NamespaceFields
	// returns are the types that the expression may have. It is nil for Patch, for which they
	// depend on the patch type; see patchTypes.
	returns []*cel.Type
}{
	MatchCondition: {
		declarations: expression.Declarations{Authorizer: true},
		namespace:    NoNamespace,
		returns:      []*cel.Type{cel.BoolType},
	},
	Variable: {
		declarations: expression.Declarations{Authorizer: true},
		returns:      []*cel.Type{cel.AnyType},
	},
	Validation: {
		declarations: expression.Declarations{Authorizer: true},
		namespace:    DeclaredNamespace,
		returns:      []*cel.Type{cel.BoolType},
	},
	Message: {
		noAuthorizer: true,
		namespace:    DeclaredNamespace,
		returns:      []*cel.Type{cel.StringType},
	},
	AuditAnnotation: {
		declarations: expression.Declarations{Authorizer: true},
		noAuthorizer: true,
		returns:      []*cel.Type{cel.StringType, cel.NullType},
	},
	MutationCondition: {
		declarations: expression.Declarations{Authorizer: true},
		returns:      []*cel.Type{cel.BoolType},
	},
	Patch: {
		declarations: expression.Declarations{Authorizer: true, Patches: true},
	},
	Index: {
		declarations: expression.Declarations{Item: true},
		returns:      []*cel.Type{cel.StringType, cel.ListType(cel.StringType), cel.ListType(cel.DynType), cel.DynType},
	},
}

// Declarations returns the optional variables and types that expressions of the role are
// compiled with, in a policy with or without a paramKind.
func (r Role) Declarations(params bool) expression.Declarations {
	in := roles[r].declarations
	in.Params = params
	return in
}

// Returns returns the types that expressions of the role may have. It returns nil for Patch,
// see Expression.Returns. The slice must not be changed.
func (r Role) Returns() []*cel.Type { return roles[r].returns }

// ReadsAuthorizer reports whether evaluation provides 'authorizer' to expressions of the role.
// For variables, the role of the expression that reads the variable decides.
func (r Role) ReadsAuthorizer() bool { return !roles[r].noAuthorizer }

// ReadsNamespace returns the part of the namespace that expressions of the role read.
func (r Role) ReadsNamespace() NamespaceFields { return roles[r].namespace }
