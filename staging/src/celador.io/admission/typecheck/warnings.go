// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

const (
	// maxStatusWarnings limits the number of warnings in a status, and maxStatusText their bytes,
	// field paths included. The policy and its status have to fit into one etcd value. If 1000
	// warnings are truncated to equal shares of maxStatusText, they are still readable.
	maxStatusWarnings = 1000
	maxStatusText     = 256 << 10
	// maxClientWarnings limits the warnings to a client about one policy, and maxClientText the
	// bytes of each. A server sends at most 4096 bytes of warnings.
	maxClientWarnings = 8
	maxClientText     = 480
	// maxFieldErrors limits the findings in the errors of FieldErrors, and maxFieldText their
	// bytes.
	maxFieldErrors = 100
	maxFieldText   = 256 << 10
)

// Warnings returns the findings in the form of status.typeChecking.expressionWarnings: one warning
// for each expression with findings, with a paragraph for each type. It returns nil if there are no
// findings.
func (r *Result) Warnings() []v1.ExpressionWarning {
	var fields []string
	texts := map[string][]string{}
	for _, f := range r.Findings {
		if texts[f.Field] == nil {
			fields = append(fields, f.Field)
		}
		texts[f.Field] = append(texts[f.Field], fmt.Sprintf("%s: %s\n", f.On(), f.Message))
	}
	var warnings []v1.ExpressionWarning
	for _, path := range fields {
		warnings = append(warnings, v1.ExpressionWarning{FieldRef: path, Warning: strings.Join(texts[path], "\n")})
	}
	return warnings
}

// StatusWarnings returns Warnings as a status has them: not too many, and not too long. If warnings
// are omitted, the last one states their number. The result is never nil.
func (r *Result) StatusWarnings() []v1.ExpressionWarning {
	warnings := r.Warnings()
	limited := append([]v1.ExpressionWarning{}, warnings[:min(len(warnings), maxStatusWarnings)]...)
	if left := len(warnings) - maxStatusWarnings; left > 0 {
		last := &limited[maxStatusWarnings-1]
		last.Warning = fmt.Sprintf("%d warnings are left out, of this expression and those after it", left+1)
	}
	size := 0
	for _, warning := range limited {
		size += len(warning.FieldRef) + len(warning.Warning)
	}
	if size > maxStatusText {
		for i := range limited {
			limited[i].Warning = Truncate(limited[i].Warning, maxStatusText/len(limited)-len(limited[i].FieldRef))
		}
	}
	return limited
}

// ClientWarnings returns the findings as warnings to a client, each in one line. An error that an
// expression has for several types is one warning. Errors that has() guards against are left out,
// unless no type has the field. If there are very many errors, the last warning says how many are
// left out.
func (r *Result) ClientWarnings() []string {
	type position struct {
		field string
		issue Issue
	}
	var order []position
	types := map[position][]string{}
	for _, f := range r.Findings {
		if f.Guarded && !f.Unknown {
			continue
		}
		for _, issue := range f.Issues {
			p := position{f.Field, issue}
			if types[p] == nil {
				order = append(order, p)
			}
			if on := f.On(); !slices.Contains(types[p], on) {
				types[p] = append(types[p], on)
			}
		}
	}
	var texts []string
	for i, p := range order {
		if i == maxClientWarnings-1 && len(order) > maxClientWarnings {
			texts = append(texts, fmt.Sprintf("%d more type errors: see status.typeChecking of the policy", len(order)-i))
			break
		}
		on := types[p][0]
		if more := len(types[p]) - 1; more > 0 {
			on = fmt.Sprintf("%s and %d more", on, more)
		}
		text := fmt.Sprintf("%s:%d:%d: %s", p.field, p.issue.Line, p.issue.Column, p.issue.Message)
		texts = append(texts, shortLine(text, maxClientText-len(on))+" ("+on+")")
	}
	return texts
}

// shortLine returns the text on one line, shortened to at most about limit bytes, so that a Warning
// header can hold it.
func shortLine(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	limit = max(limit, maxClientText/2)
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}

// FieldErrors returns the findings for which an Enforced policy must not decide (Enforceable), as
// errors of the fields with the expressions. If there are very many, it returns the first of them
// and an error with the number of the others.
func (r *Result) FieldErrors() field.ErrorList {
	r = r.Enforceable()
	size, kept := 0, 0
	for kept < min(len(r.Findings), maxFieldErrors) && size+len(r.Findings[kept].Message) <= maxFieldText {
		size += len(r.Findings[kept].Message)
		kept++
	}
	more := len(r.Findings) - kept
	r.Findings = r.Findings[:kept]
	var errs field.ErrorList
	for _, warning := range r.Warnings() {
		// The message quotes the expression, so the error omits the value.
		errs = append(errs, field.Invalid(field.NewPath(warning.FieldRef), field.OmitValueType{}, strings.TrimSpace(warning.Warning)))
	}
	if more > 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, fmt.Sprintf("expressions do not fit types in %d more cases", more)))
	}
	return errs
}
