// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// Exclusions are counted and, at V(5), logged with the condition that excluded the request.
func TestExclusion(t *testing.T) {
	const name = "exclusion.example.com"
	for of, k := range kinds {
		t.Run(of, func(t *testing.T) {
			p, _ := k.started(t, unreachable, webhooktesting.NewAuthenticationInfoResolver(new(int32)), []v1.MutatingWebhook{conditional(name, v1.Fail, "false")})
			for _, verbosity := range []int{4, 5} {
				logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(verbosity), ktesting.BufferLogs(true)))
				if err := k.examine(klog.NewContext(t.Context(), logger), p, webhooktesting.NewAttribute(namespace, nil, false)); err != nil {
					t.Fatal(err)
				}
				text := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
				if logged := strings.Contains(text, name) && strings.Contains(text, `matchCondition="c"`); logged != (verbosity == 5) {
					t.Errorf("log at %d is %q", verbosity, text)
				}
			}
			for family, labels := range map[string]map[string]string{
				"webhook_admission_match_condition_exclusions_total":   {},
				"apiserver_admission_match_condition_exclusions_total": {"kind": "webhook"},
			} {
				labels["name"], labels["type"] = name, map[string]string{"validating": "validate", "mutating": "admit"}[of]
				counted, err := testutil.GetCounterValuesFromGatherer(legacyregistry.DefaultGatherer, family, labels, "operation")
				if err != nil || counted["UPDATE"] != 2 {
					t.Errorf("%s counted %v, %v, want 2 for UPDATE", family, counted, err)
				}
			}
		})
	}
}
