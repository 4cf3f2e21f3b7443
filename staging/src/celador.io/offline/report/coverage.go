// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"

	"celador.io/offline/coverage"
)

// Coverage is the coverage of expressions in a Report.
type Coverage struct {
	coverage.Summary
	// Percent is the share of the covered branches, rounded down.
	Percent     int                 `json:"percent"`
	Expressions []CoveredExpression `json:"expressions"`
}

// A CoveredExpression is an expression of an object in the JSON of a Report. Outcomes has all
// branches of the expression. Missing, which says what would reach a branch, is empty for covered
// branches.
type CoveredExpression struct {
	coverage.Expression
	coverage.Summary
	Outcomes []coverage.Branch `json:"outcomes"`
}

func newCoverage(profile *coverage.Profile) *Coverage {
	if profile == nil {
		return nil
	}
	expressions := profile.Expressions()
	summary := coverage.Summarize(expressions)
	c := &Coverage{Summary: summary, Percent: summary.Percent(), Expressions: []CoveredExpression{}}
	for _, e := range expressions {
		for i := range e.Branches {
			if b := &e.Branches[i]; b.Covered {
				b.Missing = ""
			}
		}
		c.Expressions = append(c.Expressions, CoveredExpression{e, e.Summary(), e.Branches})
	}
	return c
}

// DescribeCoverage returns the coverage of all expressions in words.
func DescribeCoverage(s coverage.Summary) string {
	return fmt.Sprintf("%d of %d branches covered (%d%%)", s.Covered, s.Branches, s.Percent())
}

// missing returns a line for each branch of an expression that no case reached, or a single line if
// no case reached any of its branches.
func missing(e *coverage.Expression) []string {
	if e.Summary().Covered == 0 {
		return []string{e.Text + " was never evaluated"}
	}
	var lines []string
	for _, b := range e.Branches {
		if !b.Covered {
			lines = append(lines, b.Missing)
		}
	}
	return lines
}

// writeCoverage writes a table with a row for each expression, and the branches that no case
// reached.
func writeCoverage(w *bytes.Buffer, expressions []coverage.Expression) error {
	table := newTable("Kind", "Name", "Expression", "Covered")
	for _, e := range expressions {
		s := e.Summary()
		addRow(table, e.Kind, e.Name, e.Field, fmt.Sprintf("%d/%d", s.Covered, s.Branches))
	}
	w.WriteByte('\n')
	if err := printTable(w, table); err != nil {
		return err
	}
	for i := range expressions {
		lines := missing(&expressions[i])
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s: %s\n", Printable(expressions[i].Position.String()), Printable(expressions[i].Field))
		for _, line := range lines {
			fmt.Fprintf(w, "    %s\n", Printable(line))
		}
	}
	return nil
}
