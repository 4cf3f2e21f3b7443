// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// A Report is the document that JSON writes.
type Report struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Summary    Summary `json:"summary"`
	// Errors are the files that cannot be used as suites, and other arguments of the command that
	// cannot be used.
	Errors []SuiteError  `json:"errors,omitempty"`
	Suites []SuiteResult `json:"suites"`
	// Coverage is nil unless it was measured.
	Coverage *Coverage `json:"coverage,omitempty"`
}

// A SuiteError is the entry of a Report for a file, or another argument of the command, that cannot
// be used.
type SuiteError struct {
	Name     string            `json:"name"`
	Position manifest.Position `json:"position"`
	// Error is the text of the errors, one in each line.
	Error string `json:"error"`
}

// A SuiteResult is the result of a suite in a Report.
type SuiteResult struct {
	Name     string            `json:"name"`
	Position manifest.Position `json:"position"`
	Cases    []CaseResult      `json:"cases"`
}

// A CaseResult is the result of a case in a Report.
type CaseResult struct {
	Name     string            `json:"name"`
	Position manifest.Position `json:"position"`
	// Result is Passed, Failed, Unusable or Skipped.
	Result string `json:"result"`
	// Decision is what the policies decided. Empty if the result is Unusable or Skipped.
	Decision suite.Conclusion `json:"decision,omitempty"`
	// Seconds is the time that the answer took.
	Seconds float64 `json:"seconds"`
	// Error is why the case could not run.
	Error string `json:"error,omitempty"`
	// Skipped is why the case did not run.
	Skipped string `json:"skipped,omitempty"`
	// Note is a remark of the suite about the decision.
	Note string `json:"note,omitempty"`
	// Mismatches are the differences from the expectation.
	Mismatches []suite.Mismatch `json:"mismatches,omitempty"`
	// Diffs are unified diffs from the expected object to the object after admission, as YAML, by
	// the field of the expectation.
	Diffs map[string]string `json:"diffs,omitempty"`
	// Status is the error of the server, if it rejects the request.
	Status           *metav1.Status    `json:"status,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Policies has an entry for each policy together with each of its bindings.
	Policies []PolicyResult `json:"policies,omitempty"`
}

// A PolicyResult is what a policy did, through one binding.
type PolicyResult struct {
	Kind    string         `json:"kind"`
	Policy  string         `json:"policy"`
	Binding string         `json:"binding,omitempty"`
	Effect  cluster.Effect `json:"outcome"`
	Reason  string         `json:"reason,omitempty"`
}

// JSON writes a Report.
func JSON(w io.Writer, run *Run) error {
	report := Report{APIVersion: suite.APIVersion, Kind: suite.ReportKind, Summary: Summarize(run), Suites: []SuiteResult{}, Coverage: newCoverage(run.Coverage)}
	for _, p := range run.Problems {
		report.Errors = append(report.Errors, SuiteError{p.Name, p.Position(), p.Err.Error()})
	}
	for _, result := range run.Results {
		s := SuiteResult{Name: result.Name, Position: result.Position}
		for i := range result.Cases {
			s.Cases = append(s.Cases, newCase(&result.Cases[i]))
		}
		report.Suites = append(report.Suites, s)
	}
	return writeJSON(w, report)
}

// writeJSON writes a JSON document with indentation.
func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

func newCase(result *suite.CaseResult) CaseResult {
	c := CaseResult{
		Name: result.Name, Position: result.Position, Result: string(statusOf(result)), Decision: result.Decision, Seconds: result.Duration.Seconds(),
		Skipped: result.Skipped, Note: result.Note, Mismatches: result.Mismatches,
	}
	if result.Err != nil {
		c.Error = result.Err.Error()
	}
	for _, d := range result.Differences {
		if c.Diffs == nil {
			c.Diffs = map[string]string{}
		}
		c.Diffs[d.Field] = unified(d)
	}
	if response := result.Response; response != nil {
		c.Warnings, c.AuditAnnotations = response.Warnings, response.AuditAnnotations
		if response.Status != nil {
			c.Status = &response.Status.ErrStatus
		}
		for _, p := range response.Policies {
			c.Policies = append(c.Policies, PolicyResult{p.Kind, p.Policy, p.Binding, p.Effect, p.Reason})
		}
	}
	return c
}
