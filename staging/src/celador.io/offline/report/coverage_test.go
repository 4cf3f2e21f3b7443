// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
	"celador.io/offline/report"
)

// profile has an expression with a missing branch, a covered one and one that no case reached.
func profile() *coverage.Profile {
	p := &coverage.Profile{}
	branch := func(text string, result coverage.BranchResult, covered bool) coverage.Branch {
		return coverage.Branch{Text: text, Result: result, Covered: covered, Missing: text + " was never " + string(result)}
	}
	for i, branches := range [][]coverage.Branch{
		{branch("x", coverage.True, true), branch("x", coverage.False, false)},
		{branch("y", coverage.Evaluated, true)},
		{branch("z", coverage.True, false), branch("z", coverage.False, false)},
	} {
		text := branches[0].Text
		p.Add(coverage.Expression{
			Kind: "ValidatingAdmissionPolicy", Name: "p.example.com", Field: "spec." + text, Position: manifest.Position{File: "p.yaml", Line: i + 5}, Text: text,
			Branches: branches,
		})
	}
	return p
}

func TestCoverage(t *testing.T) {
	for format, want := range map[string][]string{
		"table": {`
KIND                        NAME            EXPRESSION   COVERED
ValidatingAdmissionPolicy   p.example.com   spec.x       1/2
ValidatingAdmissionPolicy   p.example.com   spec.y       1/1
ValidatingAdmissionPolicy   p.example.com   spec.z       0/2

p.yaml:5: spec.x
    x was never false

p.yaml:7: spec.z
    z was never evaluated

1 passed, 2 failed, 2 of 5 branches covered (40%)
`},
		"tap": {`
# p.yaml:5: x was never false
# p.yaml:7: z was never evaluated
# 2 of 5 branches covered (40%)
`},
		"json": {
			`"coverage": {
    "covered": 2,
    "branches": 5,
    "percent": 40,`,
			`"text": "x",
        "covered": 1,
        "branches": 2,
        "outcomes": [
          {
            "text": "x",
            "outcome": "true",
            "covered": true
          },
          {
            "text": "x",
            "outcome": "false",
            "covered": false,
            "missing": "x was never false"
          }
        ]`,
		},
		"junit": {
			`<testsuite name="2 of 5 branches covered (40%)"`, `<testcase name="spec.x" classname="ValidatingAdmissionPolicy/p.example.com" file="p.yaml" line="5" time="0">`, `<system-out>x was never false</system-out>`,
		},
		"sarif": {`"ruleId": "coverage",
          "level": "note",
          "message": {
            "text": "x was never false"
          },`},
	} {
		var out bytes.Buffer
		if err := report.Runs[format](&out, &report.Run{Results: results[:1], Coverage: profile()}); err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("%s has no %s:\n%s", format, part, cmp.Diff(part, out.String()))
			}
		}
	}
}
