// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"testing"

	"celador.io/celador/test/integration/testserver"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A rule for one of two served versions also matches requests for the other, whose object the
// policy sees in the version of the rule, unless matchPolicy is Exact.
func TestEquivalentVersions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		matchPolicy, versions string
		// expression reads a field of the version in which the policy sees the object.
		expression, requested string
		matches               bool
	}{
		"v1 sees v2 as v1": {
			matchPolicy: "Equivalent", versions: "[v1]", requested: "v2", matches: true,
			expression: `object.apiVersion == 'autoscaling/v1' && object.spec.targetCPUUtilizationPercentage == 80 && ` +
				`request.kind.version == 'v1' && request.requestKind.version == 'v2' && request.resource.version == 'v1'`,
		},
		"v2 sees v1 as v2": {
			matchPolicy: "Equivalent", versions: "[v2]", requested: "v1", matches: true,
			expression: `object.apiVersion == 'autoscaling/v2' && object.spec.metrics[0].resource.target.averageUtilization == 80 && ` +
				`request.kind.version == 'v2' && request.requestKind.version == 'v1' && request.resource.version == 'v2'`,
		},
		"the requested version comes first": {
			matchPolicy: "Equivalent", versions: "[v1, v2]", requested: "v2", matches: true,
			expression: `object.apiVersion == 'autoscaling/v2' && request.kind == request.requestKind`,
		},
		"exactly the requested":       {matchPolicy: "Exact", versions: "[v2]", requested: "v2", matches: true, expression: `object.apiVersion == 'autoscaling/v2'`},
		"exactly another":             {matchPolicy: "Exact", versions: "[v1]", requested: "v2", expression: `true`},
		"exactly any":                 {matchPolicy: "Exact", versions: `["*"]`, requested: "v1", matches: true, expression: `object.apiVersion == 'autoscaling/v1'`},
		"a version that is not there": {matchPolicy: "Equivalent", versions: "[v3]", requested: "v1", expression: `true`},
	} {
		t.Run(name, func(t *testing.T) {
			ns := admin.Namespace(t, nil)
			by := enforce(t, ns, `
matchConstraints:
  matchPolicy: `+tc.matchPolicy+`
  resourceRules: [{apiGroups: [autoscaling], apiVersions: `+tc.versions+`, operations: [CREATE], resources: [horizontalpodautoscalers]}]
validations:
- expression: "!(`+tc.expression+`)"
  message: seen`)
			err := newAutoscaler(t, ns, tc.requested)
			if tc.matches {
				by.expectInvalid(t, err, "seen")
			} else {
				testserver.ExpectAdmitted(t, err)
			}
		})
	}
}

// newAutoscaler creates an autoscaler that targets 80 % CPU through a version of its API.
func newAutoscaler(t *testing.T, namespace, version string) error {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "scaler"}
	const apps, kind, name, target, most = "apps/v1", "Deployment", "web", int32(80), int32(9)
	if version == "v1" {
		_, err := core.AutoscalingV1().HorizontalPodAutoscalers(namespace).Create(t.Context(), &autoscalingv1.HorizontalPodAutoscaler{
			ObjectMeta: meta,
			Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
				ScaleTargetRef:                 autoscalingv1.CrossVersionObjectReference{APIVersion: apps, Kind: kind, Name: name},
				MaxReplicas:                    most,
				TargetCPUUtilizationPercentage: new(target),
			},
		}, metav1.CreateOptions{})
		return err
	}
	_, err := core.AutoscalingV2().HorizontalPodAutoscalers(namespace).Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: meta,
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: apps, Kind: kind, Name: name},
			MaxReplicas:    most,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(target)},
			}}},
		},
	}, metav1.CreateOptions{})
	return err
}
