// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// A Result holds the findings of checking one policy. Equal policies, resources and schemas give
// equal results.
type Result struct {
	// Types are the types of objects that the expressions were checked against, sorted by
	// group, version and kind.
	Types []schema.GroupVersionKind
	// Params is the type of 'params'. It is empty if the policy has no paramKind, or if Unchecked
	// lists the paramKind.
	Params schema.GroupVersionKind
	// Unchecked lists the types that the policy names but that could not be checked.
	Unchecked []Unchecked
	// Findings lists the type errors, by expression in the order of evaluation, then by type. Those
	// of fieldPaths come last.
	Findings []Finding
	// BehindWildcard lists the type errors of an Enforced policy for the types that its rules match
	// by "*", of which only the metadata is known, without guarded errors. They are no Findings,
	// because the status describes types that exist.
	BehindWildcard []Finding
}

// A Finding holds the type errors of one expression, or fieldPath, for objects of one type.
type Finding struct {
	// Field is the field path of the expression, such as "spec.validations[0].expression".
	Field string
	// Type is the type of 'object' and 'oldObject', or of 'item' in the index of a lookup. It is
	// empty if the errors are not about one type: no type was checked, or a validation with a scope
	// is evaluated for objects of no type.
	Type schema.GroupVersionKind
	// Params is the type of 'params' if the errors are about it: they go away when 'params' has
	// dynamic type. Otherwise it is empty.
	Params schema.GroupVersionKind
	// Message is the text of the compiler, of several lines and up to about 8 kB. It has at most
	// ten errors, and the number of errors that are left out.
	Message string
	// Issues are the errors in Message, each in one line.
	Issues []Issue
	// Guarded is set if no subexpression with an error is evaluated for objects of Type: has()
	// guards it with a field that Type lacks.
	Guarded bool
	// Unknown is set if Guarded depends on a field that no type of the policy has: a field of
	// another version of the type, or a typo. It is always set for a fieldPath.
	Unknown bool
}

// On returns the finding's Type for messages: "apps/v1, Kind=Deployment", "any type" or, for the
// types that rules match by "*", a text that says so.
func (f *Finding) On() string {
	switch f.Type {
	case schema.GroupVersionKind{}:
		return "any type"
	case wildcardKind:
		return `types behind "*", of which only metadata is known`
	}
	return f.Type.String()
}

// An Issue is a type error in an expression.
type Issue struct {
	// Line and Column are the position in the expression, both from 1.
	Line, Column int
	// Message is the text of the type checker in one line. For a field that the type does not have,
	// it ends with the name that was probably meant, if there is one.
	Message string
}

// An Unchecked is a type that a policy names but that its expressions could not be checked against.
type Unchecked struct {
	// Field is the field path that names the type: "spec.paramKind", or a rule or one of a rule's
	// fields, such as "spec.matchConstraints.resourceRules[0].apiGroups".
	Field string
	// Resource is the resource that was looked up. It is empty for a paramKind, and for reasons
	// that concern a rule as a whole: Wildcard, Subresource, and TooManyTypes of a rule.
	Resource schema.GroupVersionResource
	// Kind is the kind of the resource or of the params, if known.
	Kind schema.GroupVersionKind
	// Reason is the category of Err.
	Reason Reason
	// Err explains why the type was not checked. It is never nil.
	Err error
}

// A Reason is a category of reasons why a type was not checked.
type Reason string

const (
	// UnknownResource means that the resource is not served. It may be served later.
	UnknownResource Reason = "UnknownResource"
	// UnknownKind means that the paramKind is not served. It may be served later.
	UnknownKind Reason = "UnknownKind"
	// NoSchema means that the kind is served and has no schema.
	NoSchema Reason = "NoSchema"
	// Unavailable means that looking up the type failed. Another check may succeed.
	Unavailable Reason = "Unavailable"
	// Wildcard means that a group, version or resource of the rule has a "*". The expressions of
	// Enforced policies are checked against the metadata that all types have.
	Wildcard Reason = "Wildcard"
	// Subresource means that the rule names a subresource.
	Subresource Reason = "Subresource"
	// TooManyTypes means that a limit was reached before the type: ten types of a rule, 50 types of
	// a policy (fewer if its expressions are very long or create very large types), or 10,000
	// combinations of groups, versions and resources of a policy.
	TooManyTypes Reason = "TooManyTypes"
)

func (r *Result) omit(u Unchecked) { r.Unchecked = append(r.Unchecked, u) }

// coversAll reports whether the targets are all types that objects may have. A resource that is
// found in one group version need not exist in the other group versions of its rule.
func (r *Result) coversAll(targets []target) bool {
	found := sets.New[string]()
	for _, t := range targets {
		found.Insert(t.resource.Resource)
	}
	return !slices.ContainsFunc(r.Unchecked, func(u Unchecked) bool {
		ofObject := u.Field != paramKindField && !strings.HasPrefix(u.Field, lookupsField.String())
		return ofObject && (u.Reason != UnknownResource || !found.Has(u.Resource.Resource))
	})
}

// Enforceable returns the result with the findings for which an Enforced policy must not decide:
// those that has() does not guard, and those about types behind "*".
func (r *Result) Enforceable() *Result {
	enforceable := *r
	enforceable.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Guarded })
	enforceable.Findings = append(enforceable.Findings, r.BehindWildcard...)
	return &enforceable
}
