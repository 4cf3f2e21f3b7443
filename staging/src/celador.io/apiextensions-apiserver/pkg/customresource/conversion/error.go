// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"strings"
)

// An ErrorReason is the class of an Error. It is the value of a metric's label.
type ErrorReason string

// Reasons of errors.
const (
	// ReasonPath means that no converter or chain of converters leads to the version.
	ReasonPath ErrorReason = "path"
	// ReasonDisabled means that the feature gate of conversion rules is off.
	ReasonDisabled ErrorReason = "disabled"
	// ReasonCompilation means that a rule does not compile. The API refuses such rules; they appear
	// when the server that stored them knew more functions.
	ReasonCompilation ErrorReason = "compilation"
	// ReasonEvaluation means that the evaluation of a rule failed, for example with 'no such key'.
	ReasonEvaluation ErrorReason = "evaluation"
	// ReasonCost means that the rules cost more than an object may cost.
	ReasonCost ErrorReason = "cost"
	// ReasonType means that the object or the result of a rule does not have the type of its
	// schema.
	ReasonType ErrorReason = "type"
	// ReasonMetadata means that the rules set labels or annotations that are invalid.
	ReasonMetadata ErrorReason = "metadata"
	// ReasonInternal means a defect of the server.
	ReasonInternal ErrorReason = "internal"
)

// An Error reports that a custom resource could not be converted.
type Error struct {
	Reason ErrorReason
	// Kind, Namespace and Name identify the object.
	Kind, Namespace, Name string
	// From and To are the versions of the entry of spec.conversion.converters that failed. In a
	// chain, they are not the versions of the conversion as a whole.
	From, To string
	// Rule identifies the rule that failed. Nil if no rule failed.
	Rule *RuleID
	// Err is the cause.
	Err error
}

// A RuleID identifies a conversion rule, and the value that it was evaluated for.
type RuleID struct {
	// Converter and Index are the indices in spec.conversion.converters and in the converter's
	// rules.
	Converter, Index int
	// Scope and Field are the paths of the rule.
	Scope, Field string
	// At is the path of the value that the rule was evaluated for, such as spec.endpoints[3]. It
	// differs from Scope if Scope contains [*]. Empty if the error does not depend on it.
	At string
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	name := e.Name
	if e.Namespace != "" {
		name = e.Namespace + "/" + name
	}
	fmt.Fprintf(&b, "cannot convert %s %q from %s to %s: ", e.Kind, name, e.From, e.To)
	if e.Rule != nil {
		fmt.Fprintf(&b, "%s: ", e.Rule)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// String returns the field path of the rule and the fields that it sets.
func (r *RuleID) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "spec.conversion.converters[%d].rules[%d]", r.Converter, r.Index)
	var where []string
	if r.Scope != "" {
		where = append(where, fmt.Sprintf("scope %q", r.Scope))
	}
	if r.Field != "" {
		where = append(where, fmt.Sprintf("field %q", r.Field))
	}
	if r.At != "" && r.At != r.Scope {
		where = append(where, "at "+r.At)
	}
	if len(where) > 0 {
		b.WriteString(" (" + strings.Join(where, ", ") + ")")
	}
	return b.String()
}
