// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"testing"

	"k8s.io/component-base/metrics/legacyregistry"
)

// compared are the metrics that have to agree.
var compared = map[string]bool{
	"apiserver_mutating_admission_policy_check_total":             true,
	"apiserver_mutating_admission_policy_check_duration_seconds":  true,
	"apiserver_admission_match_condition_evaluation_errors_total": true,
	"apiserver_admission_match_condition_evaluation_seconds":      true,
	"apiserver_admission_match_condition_exclusions_total":        true,
}

// counts returns how often each metric was observed, by its name and labels.
func counts(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	must(t, err)
	result := map[string]float64{}
	for _, family := range families {
		if !compared[family.GetName()] {
			continue
		}
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			for _, label := range metric.GetLabel() {
				key += " " + label.GetName() + "=" + label.GetValue()
			}
			// Counters have a value, histograms a number of observations.
			result[key] = metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
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
