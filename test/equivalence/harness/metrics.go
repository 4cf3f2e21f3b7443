// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"slices"
	"testing"

	"k8s.io/component-base/metrics/legacyregistry"
)

// Metrics are the names of the metrics that a suite compares.
type Metrics []string

// Counts holds the values of counters, and the numbers of observations of histograms. A key is the
// name of the metric with its labels.
type Counts map[string]float64

// Read returns the current counts of the process.
func (m Metrics) Read(t testing.TB) Counts {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	Must(t, err)
	counts := Counts{}
	for _, family := range families {
		if !slices.Contains(m, family.GetName()) {
			continue
		}
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			for _, label := range metric.GetLabel() {
				key += " " + label.GetName() + "=" + label.GetValue()
			}
			counts[key] = metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return counts
}

// Since returns by how much counts have grown since the earlier reading before, without those that
// have not changed.
func (c Counts) Since(before Counts) Counts {
	changed := Counts{}
	for key, count := range c {
		if count != before[key] {
			changed[key] = count - before[key]
		}
	}
	return changed
}
