// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"slices"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Result is the outcome of checking one policy. The same policy, resources and schemas give
// the same result.
type Result struct {
	// Types are the types of objects that the expressions were checked against, sorted by
	// group, version and kind.
	Types []schema.GroupVersionKind
	// Params is the type that 'params' was taken for. Empty when the policy has no paramKind
	// or nothing is known about it, which Unchecked tells.
	Params schema.GroupVersionKind
	// Unchecked is what the policy names and expressions were not checked against.
	Unchecked []Unchecked
	// Findings are what is wrong, by expression in the order of evaluation, then by type.
	Findings []Finding
}

// Finding is that an expression does not fit a type.
type Finding struct {
	// Field holds the expression, as in "spec.validations[0].expression".
	Field string
	// Type is the type of 'object' and 'oldObject'.
	Type schema.GroupVersionKind
	// Params is the type of 'params' if the expression would pass if that was not known, and
	// otherwise empty. So with Params empty, the error is one against Type alone.
	Params schema.GroupVersionKind
	// Message is what the compiler says, which are several lines, up to some 8 kB. Of more than
	// ten errors in one expression, it has the first ones and says that there are more.
	Message string
	// Guarded is set when what is wrong is never evaluated for objects of Type: has() of a
	// field that Type lacks and another type of the policy has, or may have, rules it out.
	Guarded bool
}

// Unchecked is something that a policy names and that expressions were not checked against.
type Unchecked struct {
	// Field is the part of the policy that names it: "spec.paramKind", or a rule or one of a
	// rule's fields, as in "spec.matchConstraints.resourceRules[0].apiGroups".
	Field string
	// Resource is the resource that was looked for or found. Empty for parameters, and for
	// rules, with the reasons Wildcard, Subresource and TooManyTypes.
	Resource schema.GroupVersionResource
	// Kind is the kind of the resource or of the parameters, as far as it is known.
	Kind schema.GroupVersionKind
	// Reason is why.
	Reason Reason
	// Err says why in words. Never nil.
	Err error
}

// Reason is why something was not checked.
type Reason string

const (
	// UnknownResource is for a resource that is not served. It may be one day.
	UnknownResource Reason = "UnknownResource"
	// UnknownKind is for parameters of a kind that is not served. It may be one day.
	UnknownKind Reason = "UnknownKind"
	// NoSchema is for a kind that is served but not described.
	NoSchema Reason = "NoSchema"
	// Unavailable is for what could not be found out just now.
	Unavailable Reason = "Unavailable"
	// Wildcard is for groups, versions and resources with a "*". They are never checked.
	Wildcard Reason = "Wildcard"
	// Subresource is for subresources. They are never checked.
	Subresource Reason = "Subresource"
	// TooManyTypes is for what comes after the first ten types of a rule, after the first 50 of
	// a policy or fewer if its expressions are very long or make very large types, or after very
	// many names that were looked up. It is never checked.
	TooManyTypes Reason = "TooManyTypes"
)

func (r *Result) omit(u Unchecked) { r.Unchecked = append(r.Unchecked, u) }

// knows tells whether the targets are all types that objects may have. A resource that is
// found in one group and version need not be in others.
func (r *Result) knows(targets []target) bool {
	found := sets.New[string]()
	for _, t := range targets {
		found.Insert(t.resource.Resource)
	}
	return !slices.ContainsFunc(r.Unchecked, func(u Unchecked) bool {
		return u.Field != paramKindField && (u.Reason != UnknownResource || !found.Has(u.Resource.Resource))
	})
}

// Enforceable returns the result without guarded findings. The policy decides about objects
// of several types in spite of these.
func (r *Result) Enforceable() *Result {
	enforceable := *r
	enforceable.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Guarded })
	return &enforceable
}

// Warnings returns the findings as status.typeChecking.expressionWarnings has them: one
// warning for each expression that does not fit, with all types that it does not fit. Nil
// when there is none.
func (r *Result) Warnings() []v1.ExpressionWarning {
	var fields []string
	texts := map[string][]string{}
	for _, f := range r.Findings {
		if texts[f.Field] == nil {
			fields = append(fields, f.Field)
		}
		texts[f.Field] = append(texts[f.Field], fmt.Sprintf("%v: %s\n", f.Type, f.Message))
	}
	var warnings []v1.ExpressionWarning
	for _, field := range fields {
		warnings = append(warnings, v1.ExpressionWarning{FieldRef: field, Warning: strings.Join(texts[field], "\n")})
	}
	return warnings
}
