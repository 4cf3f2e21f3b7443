// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package gotest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"celador.io/celador/test/e2e/conformance/specs"
)

// mostLines is the maximum number of lines of a message. The last ones are kept, because tests log
// what they do before they fail.
const mostLines = 15

// telling matches the lines of a test's output that reports show: failures, and what the test
// itself logs. It does not match what a server in the test logs.
var telling = regexp.MustCompile(`^\s*([\w.-]+\.go:\d+: |--- FAIL: |panic: )`)

// newReport returns the results of the top-level tests of a package from the events of its run. A
// test that skips itself is reported as failed, because no test may be left out except by the list
// of exceptions.
func newReport(pkg string, events []event) specs.Report {
	r := recorder{states: map[string]string{}, messages: map[string][]string{}}
	for _, e := range events {
		r.record(e)
	}
	var report specs.Report
	failed := false
	for _, test := range r.started {
		result := specs.Result{Name: qualified(pkg, test)}
		switch r.states[test] {
		case actionPass:
		case actionSkip:
			result.State, result.Message = specs.Failed, "the test skipped itself:\n"+r.message(test)
		case actionFail:
			result.State, result.Message = specs.Failed, r.message(test)
		default:
			result.State, result.Message = specs.Failed, "the test did not end:\n"+r.message(test)
		}
		failed = failed || result.State == specs.Failed
		report.Specs = append(report.Specs, result)
	}
	switch r.states[""] {
	case actionPass:
	case actionFail:
		if !failed {
			report.Problems = append(report.Problems, problem(pkg, "go test failed:\n"+r.message("")))
		}
	default:
		report.Problems = append(report.Problems, problem(pkg, fmt.Sprintf("go test reported no result:\n%s", r.message(""))))
	}
	return report
}

func problem(pkg, message string) specs.Result {
	return specs.Result{Name: pkg, State: specs.Failed, Message: message}
}

// qualified returns the name of a test that is unique among packages.
func qualified(pkg, test string) string { return pkg + "." + test }

// A recorder collects what events say about tests, by the name of the test. Events about the
// package as a whole have no such name, so they are collected under the empty name.
type recorder struct {
	// started holds the top-level tests in the order of their start.
	started []string
	// states holds the last action of each test and subtest that has ended.
	states map[string]string
	// messages holds lines of output by test or subtest.
	messages map[string][]string
}

func (r *recorder) record(e event) {
	switch e.Action {
	case actionRun:
		if e.Test == e.top() && !slices.Contains(r.started, e.Test) {
			r.started = append(r.started, e.Test)
		}
	case actionPass, actionFail, actionSkip:
		r.states[e.Test] = e.Action
		if e.Test == "" || e.Test == e.top() {
			return
		}
		// A top-level test fails if a subtest does, so the lines of the subtest explain why.
		if e.Action == actionFail {
			r.messages[e.top()] = append(r.messages[e.top()], r.messages[e.Test]...)
		}
		delete(r.messages, e.Test)
	case actionOutput, actionBuildOutput:
		if e.Test == "" || telling.MatchString(e.Output) {
			r.messages[e.Test] = append(r.messages[e.Test], strings.TrimRight(e.Output, "\n"))
		}
	}
}

func (r *recorder) message(test string) string {
	lines := r.messages[test]
	return strings.Join(lines[max(0, len(lines)-mostLines):], "\n")
}
