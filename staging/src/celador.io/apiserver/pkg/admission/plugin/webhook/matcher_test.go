// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
	v1 "k8s.io/api/admissionregistration/v1"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"celador.io/apiserver/pkg/admission/plugin/webhook"
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
			checkExclusions(t, of, name, 2)
		})
	}
}

// checkExclusions compares the metrics of exclusions of a webhook from updates.
func checkExclusions(t *testing.T, kind, name string, want int) {
	t.Helper()
	stage := map[string]string{"validating": "validate", "mutating": "admit"}[kind]
	for family, labels := range map[string]map[string]string{
		"webhook_admission_match_condition_exclusions_total":   {"name": name, "type": stage},
		"apiserver_admission_match_condition_exclusions_total": {"name": name, "type": stage, "kind": "webhook"},
	} {
		counted, err := testutil.GetCounterValuesFromGatherer(legacyregistry.DefaultGatherer, family, labels, "operation")
		if err != nil || counted["UPDATE"] != float64(want) {
			t.Errorf("%s counted %v, %v, want %d for UPDATE", family, counted, err, want)
		}
	}
	labels := map[string]string{"name": name, "kind": "webhook", "type": map[string]string{"validating": "validating", "mutating": "admit"}[kind], "operation": "UPDATE"}
	times, err := testutil.GetHistogramVecFromGatherer(legacyregistry.DefaultGatherer, "apiserver_admission_match_condition_evaluation_seconds", labels)
	if err != nil || times.GetAggregatedSampleCount() != uint64(want) {
		t.Errorf("%d times of evaluations are observed, %v, want %d", times.GetAggregatedSampleCount(), err, want)
	}
}

// Metrics count exclusions of requests that are traced, and those after the metrics of the server
// are reset.
func TestExclusionMetrics(t *testing.T) { testExclusionMetrics(t, "metrics.example.com") }

// Metrics count the same if the release of Kubernetes has them under other names.
func TestRenamedMetrics(t *testing.T) {
	webhook.RenameMetrics(t)
	testExclusionMetrics(t, "renamed.example.com")
}

func testExclusionMetrics(t *testing.T, name string) {
	for of, k := range kinds {
		t.Run(of, func(t *testing.T) {
			p, _ := k.started(t, unreachable, webhooktesting.NewAuthenticationInfoResolver(new(int32)), []v1.MutatingWebhook{conditional(name, v1.Fail, "false")})
			traced := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled}))
			for i, ctx := range []context.Context{t.Context(), t.Context(), traced, t.Context()} {
				if err := k.examine(ctx, p, webhooktesting.NewAttribute(namespace, nil, false)); err != nil {
					t.Fatal(err)
				}
				checkExclusions(t, of, name, i+1)
			}
			legacyregistry.Reset()
			for i := range 2 {
				if err := k.examine(t.Context(), p, webhooktesting.NewAttribute(namespace, nil, false)); err != nil {
					t.Fatal(err)
				}
				checkExclusions(t, of, name, i+1)
			}
		})
	}
}
