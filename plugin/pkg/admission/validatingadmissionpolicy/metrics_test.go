// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"celador.io/admission/policytest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "celador.io/api/admissionregistration/v1"
)

// checks returns the values of Kubernetes' counter of policy checks, by labels.
func checks(t *testing.T) map[string]float64 {
	t.Helper()
	return observed(t, "apiserver_validating_admission_policy_check_total")
}

// observed returns the values of a metric by labels. The value of a histogram is the number of its
// observations.
func observed(t *testing.T, name string) map[string]float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	result := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			result[strings.Join(labels, " ")] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return result
}

// Celador's metrics count policies, bindings and requests.
func TestCeladorMetrics(t *testing.T) {
	const (
		policies  = "celador_admission_policy_policies"
		bindings  = "celador_admission_policy_bindings"
		evaluated = "celador_admission_policy_evaluations_total"
		ignored   = "celador_admission_policy_ignored_failures_total"
		builds    = "celador_admission_policy_snapshot_build_duration_seconds"
		kind      = "kind=ValidatingAdmissionPolicy"
	)
	synctest.Test(t, func(t *testing.T) {
		before := observed(t, builds)[kind]
		wrong := policytest.Validating("wrong.example.com", v1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(v1.Ignore),
			Validations:      policytest.Validations(failing, "object +"),
			AuditAnnotations: []v1.AuditAnnotation{{Key: "a", ValueExpression: "string(object.missing)"}},
		})
		plugin, s := started(t, wrong, atMost("few.example.com", "5"), atMost("unbound.example.com", "5"),
			policytest.Binding("wrong", wrong.Name, v1.Deny), policytest.Binding("few", "few.example.com", v1.Deny), policytest.Binding("orphan", "none.example.com", v1.Deny))
		send(t, plugin, create(3), interfaces())
		send(t, plugin, create(4), interfaces())

		check := func(metric string, want map[string]float64) {
			t.Helper()
			got := map[string]float64{}
			for labels, value := range observed(t, metric) {
				if strings.HasPrefix(labels, kind) {
					got[labels] = value
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", metric, diff)
			}
		}
		check(policies, map[string]float64{kind + " state=active": 1, kind + " state=invalid": 1, kind + " state=unbound": 1})
		check(bindings, map[string]float64{kind + " state=active": 2, kind + " state=orphaned": 1, kind + " state=idle": 0})
		if n := observed(t, ignored)[kind+" policy=wrong.example.com"]; n != 6 {
			t.Errorf("%v ignored failures, want three for each request", n)
		}
		check(evaluated, map[string]float64{
			kind + " outcome=admitted policy=few.example.com": 2, kind + " outcome=denied policy=few.example.com": 0, kind + " outcome=failed policy=few.example.com": 0,
			kind + " outcome=admitted policy=wrong.example.com": 0, kind + " outcome=denied policy=wrong.example.com": 0, kind + " outcome=failed policy=wrong.example.com": 2,
		})
		if n := observed(t, builds)[kind] - before; n != 6 {
			t.Errorf("%v builds, want one for each policy and binding", n)
		}

		if err := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(t.Context(), wrong.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		check(policies, map[string]float64{kind + " state=active": 1, kind + " state=invalid": 0, kind + " state=unbound": 1})
		check(bindings, map[string]float64{kind + " state=active": 1, kind + " state=orphaned": 2, kind + " state=idle": 0})
		check(evaluated, map[string]float64{
			kind + " outcome=admitted policy=few.example.com": 2, kind + " outcome=denied policy=few.example.com": 0, kind + " outcome=failed policy=few.example.com": 0,
		})
		if n, found := observed(t, ignored)[kind+" policy=wrong.example.com"]; found {
			t.Errorf("%v ignored failures of a policy that is gone", n)
		}
	})
}
