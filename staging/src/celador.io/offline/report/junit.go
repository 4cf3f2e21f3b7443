// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"celador.io/offline/coverage"
	"celador.io/offline/suite"
)

// The elements of a JUnit document. Their names and attributes are those that CI systems read.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		File     string      `xml:"file,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr"`
		Line    int           `xml:"line,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
		Skipped *junitProblem `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes a JUnit XML document with a testsuite for each suite and for each Problem of the
// run. JUnit has no elements for coverage, so the coverage is a further testsuite, with a passing
// testcase for each expression.
func JUnit(w io.Writer, run *Run) error {
	var document junitSuites
	for _, p := range run.Problems {
		at, text := p.Position(), p.Err.Error()
		document.Suites = append(document.Suites, junitSuite{Name: p.Name, File: at.File, Tests: 1, Errors: 1, Cases: []junitCase{{
			Name: p.Name, Class: p.Name, File: at.File, Line: at.Line, Time: "0", Error: &junitProblem{text, text},
		}}})
	}
	for _, result := range run.Results {
		summary := Summarize(&Run{Results: []suite.Result{result}})
		s := junitSuite{Name: result.Name, File: result.Position.File, Tests: len(result.Cases), Failures: summary.Failed, Errors: summary.Unusable, Skipped: summary.Skipped}
		for _, c := range result.Cases {
			out := junitCase{Name: c.Name, Class: result.Name, File: c.Position.File, Line: c.Position.Line, Time: fmt.Sprintf("%.6f", c.Duration.Seconds())}
			if c.Passed() {
				out.Output = c.Note
			}
			switch problems := problems(&c); statusOf(&c) {
			case skipped:
				out.Skipped = &junitProblem{Message: c.Skipped}
			case failed:
				out.Failure = &junitProblem{problems[0], strings.Join(problems, "\n")}
			case unusable:
				out.Error = &junitProblem{problems[0], problems[0]}
			}
			s.Cases = append(s.Cases, out)
		}
		document.Suites = append(document.Suites, s)
	}
	if run.Coverage != nil {
		document.Suites = append(document.Suites, junitCoverage(run.Coverage.Expressions()))
	}
	return writeXML(w, document)
}

// writeXML writes an XML document.
func writeXML(w io.Writer, document any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitCoverage(expressions []coverage.Expression) junitSuite {
	s := junitSuite{Name: DescribeCoverage(coverage.Summarize(expressions)), Tests: len(expressions)}
	for _, e := range expressions {
		s.Cases = append(s.Cases, junitCase{
			Name: e.Field, Class: e.Kind + "/" + e.Name, File: e.Position.File, Line: e.Position.Line, Time: "0", Output: strings.Join(missing(&e), "\n"),
		})
	}
	return s
}
