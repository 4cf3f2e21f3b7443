// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package specs

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/onsi/ginkgo/v2/types"
)

// Report is what a run of the suite left behind.
type Report struct {
	// Specs has an entry for each spec that was started.
	Specs []Result
	// Problems has what failed outside of a spec, such as the suite's setup.
	Problems []Result
}

// Result is how one spec, or one step of the suite, went.
type Result struct {
	// Name is the spec's full name.
	Name string
	// Outcome is what became of it.
	Outcome Outcome
	// Message says why it failed or skipped itself, and where. It is empty for one that passed.
	Message string
}

// Outcome is what became of a spec.
type Outcome int

// What may become of a spec.
const (
	Passed Outcome = iota
	Failed
	Skipped
)

// ReadReport reads what the suite writes as Ginkgo's JSON report. The error says that it is none.
func ReadReport(r io.Reader) (Report, error) {
	var suites []types.Report
	if err := json.NewDecoder(r).Decode(&suites); err != nil {
		return Report{}, fmt.Errorf("not a report of Ginkgo: %w", err)
	}
	var report Report
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			result := newResult(spec)
			switch {
			case spec.LeafNodeType == types.NodeTypeIt:
				// A spec that skips itself says why. Without a reason it was never started.
				if result.Outcome == Skipped && result.Message == "" {
					continue
				}
				report.Specs = append(report.Specs, result)
			case result.Outcome == Failed:
				report.Problems = append(report.Problems, result)
			}
		}
		for _, reason := range suite.SpecialSuiteFailureReasons {
			report.Problems = append(report.Problems, Result{Name: suite.SuiteDescription, Outcome: Failed, Message: reason})
		}
	}
	return report, nil
}

// unstarted returns those names of specs that the report does not have.
func (r Report) unstarted(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(r.Specs, func(result Result) bool { return result.Name == name })
	})
}

func newResult(spec types.SpecReport) Result {
	result := Result{Name: spec.FullText()}
	if result.Name == "" {
		result.Name = spec.LeafNodeType.String()
	}
	switch {
	case spec.State.Is(types.SpecStatePassed):
		return result
	case spec.State.Is(types.SpecStateFailureStates):
		result.Outcome = Failed
	default:
		result.Outcome = Skipped
	}
	if result.Message = spec.FailureMessage(); result.Message != "" {
		result.Message += "\n" + spec.FailureLocation().String()
	}
	return result
}
