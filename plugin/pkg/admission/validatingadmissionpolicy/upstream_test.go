// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	upstreamv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "celador.io/api/admissionregistration/v1"
)

// outcome is what clients and administrators get to see of a request.
type outcome struct {
	Error       string
	Status      metav1.Status // of the error
	Warnings    []string
	Annotations map[string]string
}

// examine returns what becomes of each request, and how often policies were counted.
func examine(t *testing.T, plugin admission.ValidationInterface) (map[string]outcome, map[string]float64) {
	t.Helper()
	before := counts(t)
	outcomes := map[string]outcome{}
	for name, request := range requests() {
		got := send(t, plugin, request, interfaces())
		result := outcome{Warnings: got.Warnings, Annotations: got.Annotations}
		if got.Err != nil {
			result.Error = got.Err.Error()
		}
		var status *apierrors.StatusError
		if errors.As(got.Err, &status) {
			result.Status = status.ErrStatus
		}
		outcomes[name] = result
	}
	after := counts(t)
	for metric, count := range before {
		if after[metric] -= count; after[metric] == 0 {
			delete(after, metric)
		}
	}
	return outcomes, after
}

const checkTotal = "apiserver_validating_admission_policy_check_total"

// counts returns how often each metric was observed that has to agree, by its name and
// labels.
func counts(t *testing.T) map[string]float64 {
	t.Helper()
	result := map[string]float64{}
	for _, name := range []string{
		checkTotal,
		"apiserver_admission_match_condition_evaluation_errors_total",
		"apiserver_admission_match_condition_evaluation_seconds",
	} {
		for labels, count := range observations(t, name) {
			result[name+" "+labels] = count
		}
	}
	return result
}

// checks returns how often policies were counted, by policy, binding, error and action.
func checks(t *testing.T) map[string]float64 {
	t.Helper()
	return observations(t, checkTotal)
}

// observations returns the value of a counter, or the number of a histogram's
// observations, by labels.
func observations(t *testing.T, name string) map[string]float64 {
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
			result[strings.Join(labels, " ")] = metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return result
}

// startUpstream returns upstream's plugin, following the same policy and bindings.
func startUpstream(t *testing.T, policy *v1.ValidatingAdmissionPolicy, bindings []*v1.ValidatingAdmissionPolicyBinding) admission.ValidationInterface {
	t.Helper()
	s := newServer(t)
	objects := []runtime.Object{translate(t, policy, &upstreamv1.ValidatingAdmissionPolicy{})}
	for _, binding := range bindings {
		objects = append(objects, translate(t, binding, &upstreamv1.ValidatingAdmissionPolicyBinding{}))
	}
	for _, object := range objects {
		if err := s.kube.Tracker().Add(object); err != nil {
			t.Fatal(err)
		}
	}
	plugin, err := upstream.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.initialize(t, plugin)
	s.start()
	if !plugin.WaitForReady() {
		t.Fatal("upstream's plugin does not get ready")
	}
	return plugin
}

// translate returns an object as upstream's type.
func translate[T any](t *testing.T, from any, to T) T {
	t.Helper()
	manifest, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(manifest, to); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestAsUpstream(t *testing.T) {
	compared, denials, warnings, notes := 0, 0, 0, 0
	all := situations()
	for name, situation := range all {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := policyOf("policy.example.com", situation.spec)
				bindings := situation.bindings
				if bindings == nil {
					bindings = append(bindings, bindingOf("binding.example.com", policy.Name, v1.Deny))
				}
				objects := []runtime.Object{policy}
				for _, binding := range bindings {
					objects = append(objects, binding)
				}
				ours, _ := started(t, objects...)
				got, gotChecks := examine(t, ours)
				want, wantChecks := examine(t, startUpstream(t, policy, bindings))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("differs from upstream (-upstream +celador):\n%s", diff)
				}
				if diff := cmp.Diff(wantChecks, gotChecks); diff != "" {
					t.Errorf("counts differ from upstream (-upstream +celador):\n%s", diff)
				}
				compared++
				for _, outcome := range got {
					denials += min(1, len(outcome.Error))
					warnings += len(outcome.Warnings)
					notes += len(outcome.Annotations)
				}
			})
		})
	}
	// Were nothing enforced on either side, equality would prove nothing.
	if compared == len(all) && (denials == 0 || warnings == 0 || notes == 0) {
		t.Errorf("%d denials, %d warnings, %d audit annotations", denials, warnings, notes)
	}
	t.Logf("%d situations compared: %d denials, %d warnings, %d audit annotations", compared, denials, warnings, notes)
}
