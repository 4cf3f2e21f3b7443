// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"celador.io/offline/coverage"
)

// Table writes a table in the layout of kubectl with a row for each case, the differences of the
// cases that failed, a table of the coverage, and a line with the number of cases.
func Table(w io.Writer, run *Run) error {
	table := newTable("Suite", "Case", "Result", "Decision")
	var details bytes.Buffer
	for _, p := range run.Problems {
		addRow(table, p.Name, orNone(""), string(unusable), orNone(""))
		fmt.Fprintf(&details, "\n%s\n%s\n", printableLine(p.Name), indent(p.Err.Error()))
	}
	for _, result := range run.Results {
		shown := map[string]bool{}
		for _, c := range result.Cases {
			addRow(table, result.Name, c.Name, string(statusOf(&c)), orNone(string(c.Decision)))
			// If the manifests of a suite are invalid, all of its cases have the same error, which
			// is shown once.
			if c.Err != nil && !shown[c.Err.Error()] {
				shown[c.Err.Error()] = true
				fmt.Fprintf(&details, "\n%s: %s\n%s\n", c.Position, printableLine(c.Name), indent(c.Err.Error()))
			}
			if len(c.Mismatches) > 0 || c.Note != "" || c.Skipped != "" {
				fmt.Fprintf(&details, "\n%s: %s\n", c.Position, printableLine(c.Name))
			}
			if c.Skipped != "" {
				fmt.Fprintf(&details, "    skipped: %s\n", printableLine(c.Skipped))
			}
			for _, m := range c.Mismatches {
				fmt.Fprintf(&details, "    %s\n        want %s\n        got  %s\n", m.Field, printableLine(m.Want), printableLine(m.Got))
				for _, e := range m.Expressions {
					fmt.Fprintf(&details, "        at   %s\n", strings.Join(explain(e), "\n             "))
				}
			}
			for _, d := range c.Differences {
				fmt.Fprintf(&details, "    %s\n%s\n", d.Field, indent(indent(unified(d))))
			}
			if c.Note != "" {
				fmt.Fprintf(&details, "    note: %s\n", printableLine(c.Note))
			}
		}
	}
	var out bytes.Buffer
	if err := printTable(&out, table); err != nil {
		return err
	}
	out.WriteString(Printable(details.String()))
	summary := Summarize(run).String()
	if run.Coverage != nil {
		expressions := run.Coverage.Expressions()
		if err := writeCoverage(&out, expressions); err != nil {
			return err
		}
		summary += ", " + DescribeCoverage(coverage.Summarize(expressions))
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", &out, summary)
	return err
}

// indent indents each line of a text.
func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

func newTable(columns ...string) *metav1.Table {
	table := &metav1.Table{}
	for _, name := range columns {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: name, Type: "string"})
	}
	return table
}

// addRow adds a row, with control characters escaped. kubectl's printer escapes only some of them.
func addRow(table *metav1.Table, cells ...any) {
	for i, cell := range cells {
		if text, ok := cell.(string); ok {
			cells[i] = Printable(text)
		}
	}
	table.Rows = append(table.Rows, metav1.TableRow{Cells: cells})
}

// printTable writes a table in the layout of kubectl.
func printTable(w io.Writer, table *metav1.Table) error {
	return printers.NewTablePrinter(printers.PrintOptions{}).PrintObj(table, w)
}

// orNone returns the text, or what tables of kubectl show for none.
func orNone(text string) string { return cmp.Or(text, "<none>") }
