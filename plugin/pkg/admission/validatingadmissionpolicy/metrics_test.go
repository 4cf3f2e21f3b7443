// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"strings"
	"testing"

	"k8s.io/component-base/metrics/legacyregistry"
)

// checks returns how often policies were counted, by policy, binding, error and action.
func checks(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	result := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "apiserver_validating_admission_policy_check_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			result[strings.Join(labels, " ")] = metric.GetCounter().GetValue()
		}
	}
	return result
}
