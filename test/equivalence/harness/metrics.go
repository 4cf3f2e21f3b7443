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

// Counts map metrics with their labels to values of counters and to numbers of observations of
// histograms.
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

// Since returns the counts that changed since an earlier reading, less the earlier counts.
func (c Counts) Since(before Counts) Counts {
	changed := Counts{}
	for key, count := range c {
		if count != before[key] {
			changed[key] = count - before[key]
		}
	}
	return changed
}
