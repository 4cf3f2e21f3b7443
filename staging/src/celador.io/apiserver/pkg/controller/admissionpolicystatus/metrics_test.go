// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"

	v1 "celador.io/api/admissionregistration/v1"
)

// The metric counts the conditions in the recorded status.
func TestConditionMetric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, fitting, recorded("2", "")))
		broken := policy(t, onGadgets, strings.Replace(recorded("2", ""), `"True"`, `"False"`, 1))
		unchecked := policy(t, fitting, "{}")
		broken.Name, unchecked.Name = "broken", "unchecked"
		for _, p := range []*v1.ValidatingAdmissionPolicy{broken, unchecked} {
			if err := c.policies.Tracker().Add(p); err != nil {
				t.Fatal(err)
			}
		}
		c.run(t)
		const name = "celador_admission_policy_conditions"
		if err := testutil.GatherAndCompare(legacyregistry.DefaultGatherer, strings.NewReader(`
			# HELP celador_admission_policy_conditions [ALPHA] Policies by kind, condition in their status and status of the condition.
			# TYPE celador_admission_policy_conditions gauge
			celador_admission_policy_conditions{condition="Available",kind="ValidatingAdmissionPolicy",status="False"} 1
			celador_admission_policy_conditions{condition="Available",kind="ValidatingAdmissionPolicy",status="True"} 1
			celador_admission_policy_conditions{condition="TypeChecked",kind="ValidatingAdmissionPolicy",status="True"} 2
		`), name); err != nil {
			t.Error(err)
		}
	})
}

func TestErrorMetric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, fitting, "{}"))
		var tries atomic.Int32
		c.policies.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			if tries.Add(1) <= 3 {
				return true, nil, errors.New("failed")
			}
			return false, nil, nil
		})
		before := syncErrors(t)
		c.run(t)
		if got := syncErrors(t) - before; got != 3 {
			t.Errorf("counted %v errors, want 3", got)
		}
	})
}

func syncErrors(t *testing.T) float64 {
	t.Helper()
	const name, kind = "celador_admission_policy_status_sync_errors_total", "ValidatingAdmissionPolicy"
	counts, err := testutil.GetCounterValuesFromGatherer(legacyregistry.DefaultGatherer, name, nil, "kind")
	if err != nil && !strings.Contains(err.Error(), "not found") {
		t.Fatal(err)
	}
	return counts[kind]
}
