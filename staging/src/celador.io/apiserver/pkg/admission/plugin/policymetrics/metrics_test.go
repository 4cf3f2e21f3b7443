// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
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

func TestLookups(t *testing.T) {
	m := policymetrics.For("LookingPolicy")
	m.MeasureLookups(func(func(schema.GroupVersionKind, *lookups.State, error)) {
		t.Error("a source that was replaced is asked")
	})
	objects := lookups.NewObjectCache(true, klog.Background())
	objects.AddIndex(failing{})
	if err := objects.Replace([]runtime.Object{&corev1.Service{}, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "a"}}}); err != nil {
		t.Fatal(err)
	}
	m.MeasureLookups(func(observe func(schema.GroupVersionKind, *lookups.State, error)) {
		observe(schema.GroupVersionKind{Version: "v1", Kind: "Service"}, objects.State(), nil)
		observe(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Absent"}, nil, &meta.NoKindMatchError{})
		observe(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Listed"}, nil, errors.New("not known yet"))
		observe(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "AlsoListed"}, nil, errors.New("not known yet"))
	})
	gathers(t, "celador_admission_policy_lookup_kinds", `
		# HELP celador_admission_policy_lookup_kinds [ALPHA] Kinds of objects that policies look up, by kind of policy and state: known; waiting, as the objects or the keys of an index are not known yet; unserved, as no resource serves the kind.
		# TYPE celador_admission_policy_lookup_kinds gauge
		celador_admission_policy_lookup_kinds{kind="LookingPolicy",state="known"} 1
		celador_admission_policy_lookup_kinds{kind="LookingPolicy",state="unserved"} 1
		celador_admission_policy_lookup_kinds{kind="LookingPolicy",state="waiting"} 2
	`)
	gathers(t, "celador_admission_policy_lookup_objects", `
		# HELP celador_admission_policy_lookup_objects [ALPHA] Objects that lookups of policies find, by kind of policy, and by group, version and kind of the objects.
		# TYPE celador_admission_policy_lookup_objects gauge
		celador_admission_policy_lookup_objects{kind="LookingPolicy",lookup_group="",lookup_kind="Service",lookup_version="v1"} 2
	`)
	gathers(t, "celador_admission_policy_lookup_unindexed_objects", `
		# HELP celador_admission_policy_lookup_unindexed_objects [ALPHA] Objects that no key of a lookup's index finds because their keys cannot be computed, by kind of policy, and by group, version and kind of the objects. An object counts once for each index.
		# TYPE celador_admission_policy_lookup_unindexed_objects gauge
		celador_admission_policy_lookup_unindexed_objects{kind="LookingPolicy",lookup_group="",lookup_kind="Service",lookup_version="v1"} 1
	`)
}

// failing is an index that fails for objects without a name.
type failing struct{}

// Text implements lookups.Indexer.
func (failing) Text() string { return "name" }

// Keys implements lookups.Indexer.
func (failing) Keys(object runtime.Object) ([]string, error) {
	if name := object.(metav1.Object).GetName(); name != "" {
		return []string{name}, nil
	}
	return nil, errors.New("no name")
}

func gathers(t *testing.T, name, want string) {
	t.Helper()
	if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(want), name); err != nil {
		t.Error(err)
	}
}
