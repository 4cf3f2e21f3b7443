// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/equivalence/harness"
)

// compared are the metrics that both plugins must record alike.
var compared = harness.Metrics{
	"apiserver_validating_admission_policy_check_total",
	"apiserver_validating_admission_policy_check_duration_seconds",
	"apiserver_admission_match_condition_evaluation_errors_total",
	"apiserver_admission_match_condition_evaluation_seconds",
}

// comparison holds the outcomes of requests and how they differ.
type comparison struct {
	harness.Comparison
	// celador and upstream map the names of requests to outcomes.
	celador, upstream map[string]outcome
	// observed are Celador's metrics.
	observed harness.Counts
}

// compare sends the requests to both plugins.
//
// Kubernetes' plugin evaluates policies, bindings and params in the order of Go maps, Celador's
// in the order of their names. Warnings and annotations are therefore compared as sets. The
// error is that of the first denial: if only the errors differ, Kubernetes' plugin evaluates
// the request again in other orders until it returns the same error as Celador's. It does so
// soon, because a scenario has at most a few dozen denials.
func (c *cluster) compare(t *testing.T, requests map[string]request, ordered bool) comparison {
	t.Helper()
	result := comparison{celador: map[string]outcome{}, upstream: map[string]outcome{}}
	names := harness.Names(requests)
	before := compared.Read(t)
	for _, name := range names {
		result.celador[name] = examine(t, c.celador, requests[name])
	}
	between := compared.Read(t)
	for _, name := range names {
		result.upstream[name] = examine(t, c.upstream, requests[name])
	}
	after := compared.Read(t)
	result.observed = between.Since(before)

	for _, name := range names {
		ours, theirs := result.celador[name], result.upstream[name]
		if !ordered {
			ours = ours.unordered()
			theirs = c.inSomeOrder(t, requests[name], theirs, ours)
		}
		result.Compare(name, theirs, ours, func() string { return explain(ours, theirs) })
	}
	if diff := cmp.Diff(after.Since(between), result.observed); diff != "" && result.Explained == nil {
		result.Unexplained = append(result.Unexplained, "metrics (-upstream +celador):\n"+diff)
	}
	return result
}

// inSomeOrder returns the outcome want if Kubernetes' plugin returns it in one of the orders in
// which it evaluates policies, and another outcome otherwise.
func (c *cluster) inSomeOrder(t *testing.T, r request, answer, want outcome) outcome {
	t.Helper()
	const tries = 500
	answer = answer.unordered()
	// The wanted differences of texts may occur in other decisions than the first denial.
	alike := func(o outcome) outcome { return o.withHeaders().withoutGoTypes() }
	if strings.Contains(want.text(), harness.NullParams) {
		alike = func(o outcome) outcome { return o.withHeaders().withoutGoTypes().replaced(harness.WithoutKeys) }
	}
	wanted := alike(want)
	for range tries {
		if got := alike(answer); got.Error == wanted.Error || !reflect.DeepEqual(got.withoutError(), wanted.withoutError()) {
			break
		}
		c.Shuffle(t)
		answer = examine(t, c.upstream, r).unordered()
	}
	return answer
}

// withoutError returns a copy that tells whether there is an error, but not which.
func (o outcome) withoutError() outcome {
	if o.Error != "" {
		o.Error, o.Status = "some", metav1.Status{}
	}
	return o
}
