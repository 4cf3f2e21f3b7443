// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
)

// Coverage is the coverage of expressions in a Report.
type Coverage struct {
	coverage.Summary
	// Percent is the share of the covered branches, rounded down.
	Percent     int                 `json:"percent"`
	Expressions []CoveredExpression `json:"expressions"`
}

// A CoveredExpression is an expression of an object with its branches.
type CoveredExpression struct {
	Kind string `json:"kind"`
	// Name is the name of the object.
	Name     string            `json:"name"`
	Field    string            `json:"field"`
	Position manifest.Position `json:"position"`
	Text     string            `json:"text"`
	coverage.Summary
	Outcomes []CoveredBranch `json:"outcomes"`
}

// A CoveredBranch is one outcome of a part of an expression.
type CoveredBranch struct {
	Text    string                 `json:"text"`
	Outcome coverage.BranchOutcome `json:"outcome"`
	Covered bool                   `json:"covered"`
	// Missing says what no case reached. It is empty if the branch is covered.
	Missing string `json:"missing,omitempty"`
}

func newCoverage(profile *coverage.Profile) *Coverage {
	if profile == nil {
		return nil
	}
	expressions := profile.Expressions()
	summary := coverage.Summarize(expressions)
	c := &Coverage{Summary: summary, Percent: summary.Percent(), Expressions: []CoveredExpression{}}
	for i := range expressions {
		e := &expressions[i]
		out := CoveredExpression{Kind: e.Kind, Name: e.Name, Field: e.Field, Position: e.Position, Text: e.Text, Summary: e.Summary()}
		for _, b := range e.Branches {
			branch := CoveredBranch{Text: b.Text, Outcome: b.Outcome, Covered: b.Covered}
			if !b.Covered {
				branch.Missing = b.Missing
			}
			out.Outcomes = append(out.Outcomes, branch)
		}
		c.Expressions = append(c.Expressions, out)
	}
	return c
}

// DescribeCoverage returns the coverage of all expressions in words.
func DescribeCoverage(s coverage.Summary) string {
	return fmt.Sprintf("%d of %d branches covered (%d%%)", s.Covered, s.Branches, s.Percent())
}

// missing says what no case reached of an expression. If no case reached any of it, that is one
// line.
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
func writeCoverage(w io.Writer, expressions []coverage.Expression) error {
	table := newTable("Kind", "Name", "Expression", "Covered")
	for i := range expressions {
		e := &expressions[i]
		s := e.Summary()
		addRow(table, e.Kind, e.Name, e.Field, fmt.Sprintf("%d/%d", s.Covered, s.Branches))
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := printTable(w, table); err != nil {
		return err
	}
	for i := range expressions {
		lines := missing(&expressions[i])
		if len(lines) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s: %s\n", Printable(expressions[i].Position.String()), Printable(expressions[i].Field)); err != nil {
			return err
		}
		for _, line := range lines {
			if _, err := fmt.Fprintf(w, "    %s\n", Printable(line)); err != nil {
				return err
			}
		}
	}
	return nil
}
