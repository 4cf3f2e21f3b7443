// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/cluster"
	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
)

// A Result is the result of a suite.
type Result struct {
	// Name is the name of the suite.
	Name string
	// Position is the place of the suite.
	Position manifest.Position
	// Cases are the results of the selected cases, in the order of the suite.
	Cases []CaseResult
}

// A CaseResult tells whether a case passed, and with which mismatches, or why it was skipped or did
// not run.
type CaseResult struct {
	// Name is the name of the case.
	Name string
	// Position is the place of the case.
	Position manifest.Position
	// Manifests are the objects of the server, and Request is the request. They must not be
	// changed.
	Manifests []*unstructured.Unstructured
	Request   *cluster.Request
	// Decision is what the policies decided. It is empty if Err or Skipped is set.
	Decision Conclusion
	// Mismatches are the differences from the expectation. The case passes if there is none and Err
	// is nil.
	Mismatches []Mismatch
	// Differences show the whole objects for mismatches of object and patch.
	Differences []Difference
	// Skipped is why the case did not run. It is empty if it ran.
	Skipped string
	// Note is the remark of the suite about the decision. It may be empty.
	Note string
	// Err is set if the case could not run: the server does not accept the manifests, or no client
	// can send the request.
	Err error
	// Response is the answer of the server. It is nil if Err or Skipped is set.
	Response *cluster.Response
	// Duration is the time that the answer took.
	Duration time.Duration
}

// Passed reports whether the answer is the expected one.
func (r *CaseResult) Passed() bool { return r.Err == nil && r.Skipped == "" && len(r.Mismatches) == 0 }

// A Mismatch is a difference between an expectation and the answer.
type Mismatch struct {
	// Field is the field of the expectation, such as message.
	Field string `json:"field"`
	// Position is the place of the field.
	Position manifest.Position `json:"position"`
	// Want and Got are the expected and the actual value, as text for people.
	Want string `json:"want"`
	Got  string `json:"got"`
	// Expressions are the expressions of policies that explain the actual value.
	Expressions []Expression `json:"expressions,omitempty"`
}

// A Difference is an object after admission and the object that a case expects.
type Difference struct {
	// Field is the field of the expectation: object or patch.
	Field string
	// Want is the expected object. If the case expects a part of the object, Want is a copy of Got
	// in which this part has the expected values.
	Want map[string]any
	// Got is the object after admission. If Field is patch, Want and Got lack the values that a
	// server chooses anew for each request.
	Got map[string]any
}

// An Expression is an expression of a policy.
type Expression struct {
	// Position is the place of the expression.
	Position manifest.Position `json:"position"`
	// Text is the expression in CEL.
	Text string `json:"text"`
	// Explanation has the values of the parts of the expression. It is nil if the expression was
	// not evaluated.
	*coverage.Explanation
}
