// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"
	"testing"

	"k8s.io/component-base/metrics/legacyregistry"
)

// compared are the metrics that have to agree.
var compared = map[string]bool{
	"apiserver_admission_webhook_admission_duration_seconds":      true,
	"apiserver_admission_webhook_rejection_count":                 true,
	"apiserver_admission_webhook_fail_open_count":                 true,
	"apiserver_admission_webhook_request_total":                   true,
	"apiserver_admission_match_condition_evaluation_errors_total": true,
	"apiserver_admission_match_condition_evaluation_seconds":      true,
	exclusions: true,
	proposed:   true,
}

const (
	exclusions = "apiserver_admission_match_condition_exclusions_total"
	// proposed is what the KEP calls the same metric. Only Celador has it.
	proposed = "webhook_admission_match_condition_exclusions_total"
)

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

// family returns the name of a metric without labels.
func family(metric string) string {
	name, _, _ := strings.Cut(metric, " ")
	return name
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

// withProposed returns upstream's observations as they are when what match conditions
// exclude is also counted by the KEP's metric.
func withProposed(observed map[string]float64) map[string]float64 {
	result := map[string]float64{}
	for key, count := range observed {
		result[key] = count
		if labels, ok := strings.CutPrefix(key, exclusions); ok {
			result[proposed+strings.Replace(labels, " kind=webhook", "", 1)] = count
		}
	}
	return result
}
