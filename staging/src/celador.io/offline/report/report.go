// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report prints the results of test suites.
package report

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"celador.io/offline/audit"
	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
	"celador.io/offline/suite"
)

// A Run holds the results of a run of suites.
type Run struct {
	// Results are the results of the suites that ran.
	Results []suite.Result
	// Problems are the files and arguments whose suites could not run.
	Problems []Problem
	// Coverage is the coverage of expressions. Nil if it was not measured.
	Coverage *coverage.Profile
}

// A Problem is an argument of a run that cannot be used. Usually, it is a file that is not a valid
// suite.
type Problem struct {
	// Name is the file or the argument.
	Name string
	// File is the path of the file. Empty if the problem is about another argument.
	File string
	// Err is the error of the file or argument. It may join several.
	Err error
}

// Position returns the position of the first error in Err that has one. If none has, it returns a
// position that has only the file.
func (p *Problem) Position() manifest.Position {
	return positionOf(p.Err, manifest.Position{File: p.File})
}

// positionOf returns the position of the first error in err that has one, and other if none has.
func positionOf(err error, other manifest.Position) manifest.Position {
	var located *manifest.Error
	if errors.As(err, &located) {
		return located.Position
	}
	return other
}

// Formats holds functions that write a document about a T. The keys are the names of the formats.
type Formats[T any] map[string]func(io.Writer, *T) error

// Runs are the formats for the results of suites, and Audits those for the results of audits.
var (
	Runs   = Formats[Run]{"json": JSON, "junit": JUnit, "sarif": SARIF, "table": Table, "tap": TAP}
	Audits = Formats[audit.Report]{
		"json": AuditJSON, "junit": AuditJUnit, "openreports": ReportsAPIs["openreports"].write, "sarif": AuditSARIF, "table": AuditTable, "wgpolicy": ReportsAPIs["wgpolicy"].write,
	}
)

// String returns the names of the formats in lexical order, separated by commas.
func (f Formats[T]) String() string { return strings.Join(slices.Sorted(maps.Keys(f)), ", ") }

// A Summary has the number of cases by result. A problem of the run counts as one unusable case.
type Summary struct {
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	// Unusable is the number of cases that could not run, because the server does not accept the
	// manifests or no client can send the request, and of files that are not usable.
	Unusable int `json:"unusable"`
	// Skipped is the number of cases that the suites skip.
	Skipped int `json:"skipped,omitempty"`
}

// Summarize counts the cases and problems of a run.
func Summarize(run *Run) Summary {
	s := Summary{Unusable: len(run.Problems)}
	for _, result := range run.Results {
		for i := range result.Cases {
			switch statusOf(&result.Cases[i]) {
			case passed:
				s.Passed++
			case failed:
				s.Failed++
			case unusable:
				s.Unusable++
			case skipped:
				s.Skipped++
			}
		}
	}
	return s
}

// String returns the summary in words.
func (s Summary) String() string {
	text := fmt.Sprintf("%d passed, %d failed", s.Passed, s.Failed)
	if s.Unusable > 0 {
		text += fmt.Sprintf(", %d unusable", s.Unusable)
	}
	if s.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", s.Skipped)
	}
	return text
}

// A caseStatus is the result of a case in reports.
type caseStatus string

const (
	passed   caseStatus = "Passed"
	failed   caseStatus = "Failed"
	unusable caseStatus = "Unusable"
	skipped  caseStatus = "Skipped"
)

func statusOf(result *suite.CaseResult) caseStatus {
	switch {
	case result.Err != nil:
		return unusable
	case result.Skipped != "":
		return skipped
	case !result.Passed():
		return failed
	}
	return passed
}

// describe returns a mismatch in words, without the position of the field in the suite, because
// callers show the position in their own way.
func describe(m suite.Mismatch) string {
	return fmt.Sprintf("%s: want %s, got %s", m.Field, m.Want, m.Got)
}

// problems returns the reasons why a case did not pass, and none if it did.
func problems(result *suite.CaseResult) []string {
	if result.Err != nil {
		return []string{result.Err.Error()}
	}
	var texts []string
	for _, m := range result.Mismatches {
		texts = append(texts, m.Position.String()+": "+describe(m))
		for _, e := range m.Expressions {
			texts = append(texts, explainInLine(e))
		}
	}
	for _, d := range result.Differences {
		texts = append(texts, fmt.Sprintf("%s: %s differs:\n%s", result.Position, d.Field, unified(d)))
	}
	if len(texts) > 0 && result.Note != "" {
		texts = append(texts, result.Position.String()+": note: "+result.Note)
	}
	return texts
}
