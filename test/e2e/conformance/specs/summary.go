// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"fmt"
	"strings"
)

// Summary is how selected specs went.
type Summary struct {
	// Results has an entry for each selected spec.
	Results []Result
	// Problems has what failed outside of the specs.
	Problems []Result
}

// Summarize says how a selection went by the report of its run. A spec that was to run and of which the report knows
// nothing has failed; an exception has been skipped, for its reason.
func Summarize(selection Selection, report Report) Summary {
	var summary Summary
	for _, problem := range report.Problems {
		problem.Name = string(selection.Group) + ": " + problem.Name
		summary.Problems = append(summary.Problems, problem)
	}
	reported := map[string]Result{}
	for _, result := range report.Specs {
		reported[result.Name] = result
	}
	for _, name := range selection.Run {
		result, ok := reported[name]
		if !ok {
			result = Result{Name: name, Outcome: Failed, Message: "did not run"}
		}
		summary.Results = append(summary.Results, result)
	}
	for _, exception := range selection.Excepted {
		summary.Results = append(summary.Results, Result{Name: exception.Spec, Outcome: Skipped, Message: exception.Reason})
	}
	return summary
}

// Add returns the summary of what both summaries are about.
func (s Summary) Add(other Summary) Summary {
	return Summary{
		Results:  append(s.Results[:len(s.Results):len(s.Results)], other.Results...),
		Problems: append(s.Problems[:len(s.Problems):len(s.Problems)], other.Problems...),
	}
}

// OK tells whether nothing failed.
func (s Summary) OK() bool {
	return len(s.Problems) == 0 && s.count(Failed) == 0
}

func (s Summary) count(outcome Outcome) int {
	n := 0
	for _, result := range s.Results {
		if result.Outcome == outcome {
			n++
		}
	}
	return n
}

// String returns how many specs had which outcome.
func (s Summary) String() string {
	counts := fmt.Sprintf("%d passed, %d failed, %d skipped", s.count(Passed), s.count(Failed), s.count(Skipped))
	if len(s.Problems) > 0 {
		counts += fmt.Sprintf(", %d failed outside of the specs", len(s.Problems))
	}
	return counts
}

// Details returns, in lines, everything that was skipped and then everything that failed, with the reasons.
func (s Summary) Details() string {
	var text strings.Builder
	list := func(title string, results []Result, outcome Outcome) {
		for _, result := range results {
			if result.Outcome == outcome {
				fmt.Fprintf(&text, "%s %s\n%s\n", title, result.Name, indent(result.Message))
			}
		}
	}
	list("SKIPPED", s.Results, Skipped)
	list("FAILED", s.Problems, Failed)
	list("FAILED", s.Results, Failed)
	return text.String()
}

// indent returns the beginning of a message, which may hold a whole object, as lines below a title.
func indent(message string) string {
	const most = 20
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if len(lines) > most {
		lines = append(lines[:most], "…")
	}
	return "    " + strings.Join(lines, "\n    ")
}
