// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics/testutil"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// Values of label "type" are Kubernetes', which depend on the metric.
var (
	stepOfExclusions  = map[string]string{validating: "validate", mutating: "admit"}
	stepOfEvaluations = map[string]string{validating: "validating", mutating: "admit"}
)

// TestMetrics checks Kubernetes' metrics about match conditions and the metric that KEP-3716
// names.
func TestMetrics(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{validating, mutating} {
		t.Run(kind, func(t *testing.T) {
			ns, hook := admin.Namespace(t, nil), webhookserver.Admit(t, webhookserver.Allow)
			prefix := testserver.UniqueName("metrics") + "-"
			configure(t, kind, ns, hook,
				webhook{name: prefix + "unconditional", rule: createConfigMaps},
				webhook{name: prefix + "outside", rule: rule{"UPDATE", "", "v1", "configmaps"}, conditions: []string{"false"}},
				webhook{name: prefix + "called", rule: createConfigMaps, conditions: []string{"true"}},
				webhook{name: prefix + "marked", rule: createConfigMaps, conditions: []string{"true", "object.data.mark == 'yes'"}},
				webhook{name: prefix + "deleted", rule: rule{"DELETE", "", "v1", "configmaps"}, conditions: []string{"oldObject.data.mark == 'yes'"}},
				webhook{name: prefix + "ignored", rule: createConfigMaps, failurePolicy: admissionregistrationv1.Ignore,
					conditions: []string{missing, "true", "string(object.data.lost) == ''"}},
				webhook{name: prefix + "failed", rule: createConfigMaps, conditions: []string{"object.data.mark != 'fail' || " + missing}},
			)
			for _, mark := range []string{"yes", "no", "no"} {
				created := testserver.Must(newConfigMap(t, core, ns, mark))(t)
				testserver.ExpectAdmitted(t, core.CoreV1().ConfigMaps(ns).Delete(t.Context(), created.Name, metav1.DeleteOptions{}))
			}
			if _, err := newConfigMap(t, core, ns, "fail"); err == nil {
				t.Error("got no error although the conditions of a webhook fail")
			}

			const exclusions, evaluations = "apiserver_admission_match_condition_exclusions_total ", "apiserver_admission_match_condition_evaluation_"
			excluded, evaluated := " webhook "+stepOfExclusions[kind], " webhook "+stepOfEvaluations[kind]
			want := map[string]float64{
				exclusions + "marked CREATE" + excluded:  3,
				exclusions + "deleted DELETE" + excluded: 2,
				exclusions + "ignored CREATE" + excluded: 4,

				evaluations + "errors_total ignored CREATE" + evaluated: 8,
				evaluations + "errors_total failed CREATE" + evaluated:  1,

				// Without an exclusion or an error, the time is not recorded.
				evaluations + "seconds_count marked CREATE" + evaluated:  3,
				evaluations + "seconds_count deleted DELETE" + evaluated: 2,
				evaluations + "seconds_count ignored CREATE" + evaluated: 4,
				evaluations + "seconds_count failed CREATE" + evaluated:  1,

				"webhook_admission_match_condition_exclusions_total marked CREATE " + stepOfExclusions[kind]:  3,
				"webhook_admission_match_condition_exclusions_total deleted DELETE " + stepOfExclusions[kind]: 2,
				"webhook_admission_match_condition_exclusions_total ignored CREATE " + stepOfExclusions[kind]: 4,
			}
			if diff := cmp.Diff(want, conditionMetrics(t, prefix)); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

// conditionMetrics returns the metrics about conditions of webhooks whose names have the prefix,
// by metric name and labels.
func conditionMetrics(t *testing.T, prefix string) map[string]float64 {
	t.Helper()
	text := testserver.Must(core.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context()))(t)
	metrics := testutil.NewMetrics()
	if err := testutil.ParseMetrics(string(text), &metrics); err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for name, samples := range metrics {
		if !strings.Contains(name, "match_condition") || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_sum") {
			continue
		}
		for _, sample := range samples {
			if webhook, ok := strings.CutPrefix(string(sample.Metric["name"]), prefix); ok {
				key := []string{name, strings.TrimSuffix(webhook, domain), string(sample.Metric["operation"])}
				for _, label := range []string{"kind", "type"} {
					if value := sample.Metric[testutil.LabelName(label)]; value != "" {
						key = append(key, string(value))
					}
				}
				found[strings.Join(key, " ")] = float64(sample.Value)
			}
		}
	}
	return found
}
