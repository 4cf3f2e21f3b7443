// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"strings"
	"testing"

	"k8s.io/component-base/metrics/legacyregistry"
)

// counts returns how often each metric was observed that has to agree, by its name and
// labels.
func counts(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	must(t, err)
	result := map[string]float64{}
	for _, family := range families {
		switch family.GetName() {
		case "apiserver_validating_admission_policy_check_total",
			"apiserver_validating_admission_policy_check_duration_seconds",
			"apiserver_admission_match_condition_evaluation_errors_total",
			"apiserver_admission_match_condition_evaluation_seconds":
		default:
			continue
		}
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			for _, label := range metric.GetLabel() {
				key += " " + label.GetName() + "=" + label.GetValue()
			}
			// Counters have a value, histograms a number of observations.
			result[strings.TrimSpace(key)] = metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return result
}

// since returns what was observed since before.
func since(before, now map[string]float64) map[string]float64 {
	result := map[string]float64{}
	for key, count := range now {
		if count != before[key] {
			result[key] = count - before[key]
		}
	}
	return result
}
