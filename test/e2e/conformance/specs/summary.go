// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"fmt"
	"strings"
)

// A Summary holds the results of selected specs.
type Summary struct {
	// Results has an entry for each selected spec.
	Results []Result
	// Problems holds failures outside of specs.
	Problems []Result
}

// Summarize returns the summary of a selection from the report of its run. Specs that were not
// started count as failed, exceptions as skipped.
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
			result = Result{Name: name, State: Failed, Message: "did not run"}
		}
		summary.Results = append(summary.Results, result)
	}
	for _, exception := range selection.Excepted {
		summary.Results = append(summary.Results, Result{Name: exception.Spec, State: Skipped, Message: exception.Reason})
	}
	return summary
}

// Add returns a summary with the results of both summaries.
func (s Summary) Add(other Summary) Summary {
	return Summary{
		Results:  append(s.Results[:len(s.Results):len(s.Results)], other.Results...),
		Problems: append(s.Problems[:len(s.Problems):len(s.Problems)], other.Problems...),
	}
}

// OK reports whether nothing failed.
func (s Summary) OK() bool {
	return len(s.Problems) == 0 && s.count(Failed) == 0
}

func (s Summary) count(state State) int {
	n := 0
	for _, result := range s.Results {
		if result.State == state {
			n++
		}
	}
	return n
}

// String returns the numbers of specs by state.
func (s Summary) String() string {
	counts := fmt.Sprintf("%d passed, %d failed, %d skipped", s.count(Passed), s.count(Failed), s.count(Skipped))
	if len(s.Problems) > 0 {
		counts += fmt.Sprintf(", %d failed outside of the specs", len(s.Problems))
	}
	return counts
}

// Details returns a text with all skipped specs and then all failures, with their messages.
func (s Summary) Details() string {
	var text strings.Builder
	list := func(title string, results []Result, state State) {
		for _, result := range results {
			if result.State == state {
				fmt.Fprintf(&text, "%s %s\n%s\n", title, result.Name, indent(result.Message))
			}
		}
	}
	list("SKIPPED", s.Results, Skipped)
	list("FAILED", s.Problems, Failed)
	list("FAILED", s.Results, Failed)
	return text.String()
}

// indent returns the first lines of a message, indented. Messages may contain whole objects.
func indent(message string) string {
	const most = 20
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if len(lines) > most {
		lines = append(lines[:most], "…")
	}
	return "    " + strings.Join(lines, "\n    ")
}
