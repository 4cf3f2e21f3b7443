// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"testing"

	"celador.io/celador/test/integration/testserver"
	"k8s.io/component-base/metrics/testutil"
)

// TestMetrics checks that each mutation is counted as a check of its policy and binding. Match
// conditions are evaluated twice, because the changed object causes a second round. Ignored
// failures are counted like those of validating policies.
func TestMetrics(t *testing.T) {
	ns := namespace(t)
	names := enforceAll(t, ns,
		"fine", on("CREATE", "", "configmaps")+mutations(set("a", "'1'"), set("b", "'2'")),
		"ignored", on("CREATE", "", "configmaps")+mutations(set("c", "object.data.missing"))+"failurePolicy: Ignore",
		"elsewhere", on("CREATE", "", "configmaps")+mutations(set("d", "'4'"))+`matchConditions: [{name: none, expression: "false"}]`,
		"again", on("CREATE", "", "configmaps")+mutations(set("e", "'5'"))+"reinvocationPolicy: IfNeeded",
	)
	for range 2 {
		testserver.Must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t)
	}
	const checks, durations = "apiserver_mutating_admission_policy_check_total", "apiserver_mutating_admission_policy_check_duration_seconds_count"
	want := map[string]float64{}
	for _, metric := range []string{checks, durations} {
		want[metric+" fine no_error"] = 4
		want[metric+" ignored invalid_error"] = 2
		want[metric+" again no_error"] = 4
	}
	want["celador_admission_policy_ignored_failures_total ignored"] = 2
	want["apiserver_admission_match_condition_evaluation_seconds_count elsewhere"] = 4
	got := map[string]float64{}
	all := metrics(t)
	for i, prefix := range []string{"fine", "ignored", "elsewhere", "again"} {
		for _, sample := range append(all[checks], all[durations]...) {
			if l := sample.Metric; string(l["policy"]) == names[i] && string(l["policy_binding"]) == names[i] {
				got[string(l["__name__"])+" "+prefix+" "+string(l["error_type"])] = float64(sample.Value)
			}
		}
		for _, sample := range all["celador_admission_policy_ignored_failures_total"] {
			if sample.Metric["kind"] == "MutatingAdmissionPolicy" && string(sample.Metric["policy"]) == names[i] {
				got["celador_admission_policy_ignored_failures_total "+prefix] = float64(sample.Value)
			}
		}
		for _, sample := range all["apiserver_admission_match_condition_evaluation_seconds_count"] {
			if string(sample.Metric["name"]) == names[i] {
				got["apiserver_admission_match_condition_evaluation_seconds_count "+prefix] = float64(sample.Value)
			}
		}
	}
	expectEqual(t, "metrics", want, got)
}

// TestInventory checks the numbers of policies and bindings by their state.
func TestInventory(t *testing.T) {
	ns := namespace(t)
	before := inventory(t)
	enforce(t, ns, on("CREATE", "", "configmaps")+mutations(set("a", "'1'")))
	writePolicy(t, "unbound", on("CREATE", "", "configmaps")+mutations(set("a", "'1'")))
	bind(t, "orphan-of-"+ns, testserver.In(ns))
	settle(t)
	got := inventory(t)
	// settle creates a policy and a binding, too.
	for state, more := range map[string]float64{"policies unbound": 1, "bindings orphaned": 1, "policies active": 3, "bindings active": 3, "policies invalid": 0} {
		if got[state] != before[state]+more {
			t.Errorf("%s: %v before, %v now, want %v more", state, before[state], got[state], more)
		}
	}
}

func inventory(t *testing.T) map[string]float64 {
	t.Helper()
	all, counts := metrics(t), map[string]float64{}
	for _, what := range []string{"policies", "bindings"} {
		for _, sample := range all["celador_admission_policy_"+what] {
			if sample.Metric["kind"] == "MutatingAdmissionPolicy" {
				counts[what+" "+string(sample.Metric["state"])] = float64(sample.Value)
			}
		}
	}
	return counts
}

func metrics(t *testing.T) testutil.Metrics {
	t.Helper()
	text := testserver.Must(core.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context()))(t)
	parsed := testutil.NewMetrics()
	if err := testutil.ParseMetrics(string(text), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}
