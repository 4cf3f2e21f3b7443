// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	"celador.io/offline/audit"
)

// AuditJUnit writes a JUnit XML document with a testsuite for each policy and binding. Each
// violation is a test case. Objects that pass are only counted.
func AuditJUnit(w io.Writer, report *audit.Report) error {
	var document junitSuites
	for _, p := range report.Policies {
		name := p.Name
		if p.Binding != "" {
			name += "/" + p.Binding
		}
		s := junitSuite{Name: name, Tests: p.Passed + p.Violated + p.Failed, Failures: p.Violated, Errors: p.Failed}
		if p.NotAuditable != "" {
			s.Tests, s.Skipped = 1, 1
			s.Cases = []junitCase{{Name: "auditable", Class: name, Time: "0", Skipped: &junitProblem{Message: p.NotAuditable}}}
		}
		for _, f := range p.Violations {
			problem := &junitProblem{message(f), message(f)}
			if f.Index >= 0 {
				problem.Text = fmt.Sprintf("spec.validations[%d]: %s", f.Index, message(f))
			}
			c := junitCase{Name: namespaced(&f.Object), Class: name, File: f.Object.Position.File, Line: f.Object.Position.Line, Time: "0"}
			if c.Failure = problem; result(f) != "Violated" {
				c.Failure, c.Error = nil, problem
			}
			s.Cases = append(s.Cases, c)
		}
		document.Suites = append(document.Suites, s)
	}
	if unread := unreadProblems(report); len(unread) > 0 {
		s := junitSuite{Name: "objects", Tests: len(unread), Errors: len(unread)}
		for _, text := range unread {
			s.Cases = append(s.Cases, junitCase{Name: text, Class: s.Name, Error: &junitProblem{text, text}})
		}
		document.Suites = append(document.Suites, s)
	}
	return writeXML(w, document)
}

// unreadProblems returns the errors of objects and resources that were not evaluated.
func unreadProblems(report *audit.Report) []string {
	var texts []string
	for i := range report.Unevaluated {
		texts = append(texts, place(&report.Unevaluated[i].Object)+": "+report.Unevaluated[i].Err.Error())
	}
	for _, err := range report.Unread {
		texts = append(texts, err.Error())
	}
	return texts
}
