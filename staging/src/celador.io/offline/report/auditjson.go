// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"io"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/audit"
	"celador.io/offline/manifest"
)

// An Audit is the document that AuditJSON writes.
type Audit struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Objects is the number of objects that were evaluated.
	Objects    int `json:"objects"`
	Violations int `json:"violations"`
	Errors     int `json:"errors"`
	// Policies has an entry for each policy and each of its bindings.
	Policies []AuditPolicy `json:"policies"`
	// Unevaluated are objects that could not be evaluated.
	Unevaluated []AuditUnevaluated `json:"unevaluated,omitempty"`
	// Unread are the errors of resources whose objects could not be read.
	Unread []string `json:"unread,omitempty"`
}

// An AuditPolicy is the result of a policy, through one of its bindings, in an Audit.
type AuditPolicy struct {
	Policy  string                `json:"policy"`
	Binding string                `json:"binding,omitempty"`
	Actions []v1.ValidationAction `json:"validationActions,omitempty"`
	// NotAuditable is why the policy was not evaluated.
	NotAuditable string `json:"notAuditable,omitempty"`
	Passed       int    `json:"passed"`
	Violated     int    `json:"violated"`
	Errors       int    `json:"errors"`
	// Findings are the violations: validations that objects violate, and parts of the policy that
	// could not be evaluated. Omitted is the number of those that are left out.
	Findings []AuditViolation `json:"findings,omitempty"`
	Omitted  int              `json:"omittedFindings,omitempty"`
}

// An AuditViolation is a validation that an object violates, or a part of a policy that could not
// be evaluated.
type AuditViolation struct {
	AuditObject
	// Result is Violated or Error.
	Result string `json:"result"`
	// Validation is the index in spec.validations, or -1 if the violation is not about one
	// validation.
	Validation int    `json:"validation"`
	Message    string `json:"message"`
	Reason     string `json:"reason,omitempty"`
	Field      string `json:"field,omitempty"`
}

// An AuditObject identifies an object in an Audit.
type AuditObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
	// Position is the file and line of the object. It is not set for objects of a server.
	Position manifest.Position `json:"position,omitzero"`
}

// An AuditUnevaluated is an object that could not be evaluated.
type AuditUnevaluated struct {
	AuditObject
	Error string `json:"error"`
}

// AuditJSON writes an Audit.
func AuditJSON(w io.Writer, report *audit.Report) error {
	document := Audit{
		APIVersion: "audit.celador.io/v1alpha1", Kind: "Report", Objects: report.Objects, Violations: report.Violations(), Errors: report.Errors(),
		Policies: []AuditPolicy{},
	}
	for _, p := range report.Policies {
		out := AuditPolicy{
			Policy: p.Name, Binding: p.Binding, Actions: p.Actions, NotAuditable: p.NotAuditable, Passed: p.Passed, Violated: p.Violated, Errors: p.Failed, Omitted: omitted(p),
		}
		for _, f := range p.Violations {
			out.Findings = append(out.Findings, AuditViolation{newAuditObject(&f.Object), result(f), f.Index, f.Message, string(f.Reason), f.Field})
		}
		document.Policies = append(document.Policies, out)
	}
	for _, u := range report.Unevaluated {
		document.Unevaluated = append(document.Unevaluated, AuditUnevaluated{newAuditObject(&u.Object), u.Err.Error()})
	}
	for _, err := range report.Unread {
		document.Unread = append(document.Unread, err.Error())
	}
	return writeJSON(w, document)
}

func newAuditObject(r *audit.Reference) AuditObject {
	version, kind := r.ToAPIVersionAndKind()
	return AuditObject{version, kind, r.Namespace, r.Name, string(r.UID), r.Position}
}
