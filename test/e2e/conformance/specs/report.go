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

// A Report holds the results of a run of the suite.
type Report struct {
	// Specs has an entry for each spec that was started.
	Specs []Result
	// Problems holds failures outside of specs, such as in the setup of the suite.
	Problems []Result
}

// A Result is the result of a spec, or of a step outside of specs, such as the setup of the suite.
type Result struct {
	// Name is the spec's full name.
	Name string
	// State is Passed, Failed or Skipped.
	State State
	// Message is the reason and location of a failure or skip. It is empty for a spec that passed.
	Message string
}

// A State is the state of a spec after a run.
type State int

// The states of a spec.
const (
	Passed State = iota
	Failed
	Skipped
)

// ReadReport decodes Ginkgo's JSON report.
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
				// A spec that skips itself has a message. Without one, it was not started.
				if result.State == Skipped && result.Message == "" {
					continue
				}
				report.Specs = append(report.Specs, result)
			case result.State == Failed:
				report.Problems = append(report.Problems, result)
			}
		}
		for _, reason := range suite.SpecialSuiteFailureReasons {
			report.Problems = append(report.Problems, Result{Name: suite.SuiteDescription, State: Failed, Message: reason})
		}
	}
	return report, nil
}

// unstarted returns those of the names whose specs were not started: the report has no entry for
// them.
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
		result.State = Failed
	default:
		result.State = Skipped
	}
	if result.Message = spec.FailureMessage(); result.Message != "" {
		result.Message += "\n" + spec.FailureLocation().String()
	}
	return result
}
