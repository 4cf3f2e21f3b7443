// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"

	"celador.io/admission/policy"

	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
)

func TestIgnoredFailures(t *testing.T) {
	m := policymetrics.For("IgnoringPolicy")
	m.ObserveIgnored(t.Context(), "a")
	m.ObserveIgnored(t.Context(), "a")
	m.ObserveIgnored(t.Context(), "b")
	m.ObserveIgnored(t.Context(), "gone")
	m.Forget("gone")
	m.Forget("never was")
	gathers(t, "celador_admission_policy_ignored_failures_total", `
		# HELP celador_admission_policy_ignored_failures_total [ALPHA] Failures to evaluate a policy that its failurePolicy Ignore let pass, by kind of policy and policy.
		# TYPE celador_admission_policy_ignored_failures_total counter
		celador_admission_policy_ignored_failures_total{kind="IgnoringPolicy",policy="a"} 2
		celador_admission_policy_ignored_failures_total{kind="IgnoringPolicy",policy="b"} 1
	`)
}

func TestSnapshotBuild(t *testing.T) {
	policymetrics.For("BuiltPolicy").ObserveBuild(50 * time.Microsecond)
	const name = "celador_admission_policy_snapshot_build_duration_seconds"
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		h := family.GetMetric()[0].GetHistogram()
		if h.GetSampleCount() != 1 || h.GetSampleSum() != 50e-6 {
			t.Errorf("histogram is %v", h)
		}
		return
	}
	t.Errorf("no metric %s", name)
}

func TestCounts(t *testing.T) {
	m := policymetrics.For("CountedPolicy")
	m.Count(func() (policies, bindings map[string]int) {
		t.Error("a counter that was replaced is asked")
		return nil, nil
	})
	active := 1
	m.Count(func() (policies, bindings map[string]int) {
		return map[string]int{"active": active, "unbound": 0}, map[string]int{"active": 2 * active}
	})
	active = 2
	policymetrics.For("OtherPolicy").Count(func() (policies, bindings map[string]int) { return map[string]int{"active": 7}, nil })
	gathers(t, "celador_admission_policy_bindings", `
		# HELP celador_admission_policy_bindings [ALPHA] Bindings by kind of policy and state: active; orphaned, as their policy does not exist; idle, as their policy takes effect without them.
		# TYPE celador_admission_policy_bindings gauge
		celador_admission_policy_bindings{kind="CountedPolicy",state="active"} 4
	`)
	gathers(t, "celador_admission_policy_policies", `
		# HELP celador_admission_policy_policies [ALPHA] Policies by kind and state: active; unbound, as nothing puts it into effect; invalid, as it is in effect but not all of it can be evaluated.
		# TYPE celador_admission_policy_policies gauge
		celador_admission_policy_policies{kind="CountedPolicy",state="active"} 2
		celador_admission_policy_policies{kind="CountedPolicy",state="unbound"} 0
		celador_admission_policy_policies{kind="OtherPolicy",state="active"} 7
	`)
}

func TestEvaluations(t *testing.T) {
	m := policymetrics.For("EvaluatedPolicy")
	m.CountEvaluations(func(policy.EvaluationObserver) { t.Error("a counter that was replaced is asked") })
	m.CountEvaluations(func(observe policy.EvaluationObserver) {
		observe("a", policy.Admitted, 3)
		observe("b", policy.Failed, 0)
		observe("a", policy.Admitted, 4)
		observe("a", policy.Denied, 1)
	})
	gathers(t, "celador_admission_policy_evaluations_total", `
		# HELP celador_admission_policy_evaluations_total [ALPHA] Evaluations of policies, one for each request, binding and param, by kind, policy and outcome: admitted; denied, as a validation is not satisfied, whatever the validationActions are; failed, as a part of the policy could not be evaluated, whatever the failurePolicy is.
		# TYPE celador_admission_policy_evaluations_total counter
		celador_admission_policy_evaluations_total{kind="EvaluatedPolicy",outcome="admitted",policy="a"} 7
		celador_admission_policy_evaluations_total{kind="EvaluatedPolicy",outcome="denied",policy="a"} 1
		celador_admission_policy_evaluations_total{kind="EvaluatedPolicy",outcome="failed",policy="b"} 0
	`)
}

func gathers(t *testing.T, name, want string) {
	t.Helper()
	if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(want), name); err != nil {
		t.Error(err)
	}
}
