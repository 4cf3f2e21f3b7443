// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	"k8s.io/component-base/metrics"
)

// RenameMetrics makes Kubernetes' metrics of exclusions unknown until the test ends, as a release
// that renames them would.
func RenameMetrics(t testing.TB) {
	before := countsExclusions
	_, countsExclusions = registered[*metrics.CounterVec]("renamed_total")
	t.Cleanup(func() { countsExclusions = before })
}

// registered finds a metric by its name and type.
func TestRegistered(t *testing.T) {
	if !countsExclusions || !timesEvaluations {
		t.Errorf("Kubernetes' metrics of exclusions are found: %t, %t", countsExclusions, timesEvaluations)
	}
	if _, ok := registered[*metrics.CounterVec]("renamed_total"); ok {
		t.Error("a metric that nobody registered is found")
	}
	if _, ok := registered[*metrics.HistogramVec]("apiserver_admission_match_condition_exclusions_total"); ok {
		t.Error("a counter is found as a histogram")
	}
}
