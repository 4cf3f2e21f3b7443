// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/offline/audit"
)

// AuditTable writes tables in the layout of kubectl: one with a row for each violation, and one
// with a row for each binding of a policy. Below them are the reasons why policies or objects were
// not evaluated, and a line with the numbers.
func AuditTable(w io.Writer, report *audit.Report) error {
	findings, policies := newTable("Namespace", "Object", "Result", "Policy", "Message"), newTable("Policy", "Binding", "Actions", "Passed", "Violated", "Errors")
	left := 0
	for _, p := range report.Policies {
		left += omitted(p)
		for _, f := range p.Violations {
			addRow(findings, orNone(f.Object.Namespace), display(&f.Object), result(f), p.Name, message(f))
		}
		if p.NotAuditable == "" {
			addRow(policies, p.Name, orNone(p.Binding), orNone(joinActions(p.Actions)), p.Passed, p.Violated, p.Failed)
		}
	}
	for _, table := range []*metav1.Table{findings, policies} {
		if len(table.Rows) == 0 {
			continue
		}
		if err := printTable(w, table); err != nil {
			return err
		}
		if table == findings && left > 0 {
			fmt.Fprintf(w, "and %d more findings\n", left)
		}
		fmt.Fprintln(w)
	}
	for _, p := range report.Policies {
		switch {
		case p.NotAuditable == "" && p.Counts == audit.Counts{}:
			fmt.Fprintf(w, "Policy %s matches no object\n", Printable(p.Name))
		case p.NotAuditable != "":
			fmt.Fprintf(w, "Policy %s was not evaluated: %s\n", Printable(p.Name), Printable(p.NotAuditable))
		}
	}
	// All objects of an unknown type have the same error, so it is shown once with their number.
	others := map[string]int{}
	for _, u := range report.Unevaluated {
		others[u.Err.Error()]++
	}
	for _, u := range report.Unevaluated {
		text := u.Err.Error()
		switch n := others[text]; {
		case n == 1:
			fmt.Fprintf(w, "%s was not evaluated: %s\n", Printable(place(&u.Object)), Printable(text))
		case n > 1:
			fmt.Fprintf(w, "%s and others, %d in all, were not evaluated: %s\n", Printable(place(&u.Object)), n, Printable(text))
		}
		delete(others, text)
	}
	if more := report.UnevaluatedCount - len(report.Unevaluated); more > 0 {
		fmt.Fprintf(w, "%d more objects were not evaluated\n", more)
	}
	for _, err := range report.Unread {
		fmt.Fprintf(w, "Objects were not read: %s\n", Printable(err.Error()))
	}
	_, err := fmt.Fprintf(w, "Objects, evaluated as if they were created now: %d. Violations: %d, errors: %d.\n", report.Objects, report.Violations(), report.Errors())
	return err
}

// place returns the object with its file and line, if it has them.
func place(r *audit.Reference) string {
	if r.Position.File == "" {
		return namespaced(r)
	}
	return r.Position.String() + ": " + namespaced(r)
}
