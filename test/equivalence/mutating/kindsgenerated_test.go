// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/celador/test/equivalence/harness"
)

var kindPolicies = flag.Int("kind-policies", 360, "number of generated policies for built-in kinds")

// together is the number of policies of one cluster.
const together = 60

// TestBuiltInKinds generates objects of all built-in kinds and policies that mutate them. Each
// policy applies to objects of one name.
func TestBuiltInKinds(t *testing.T) {
	kinds := map[schema.GroupVersionKind]int{}
	counted, outcomes := map[string]int{}, 0
	for first := 0; first < *kindPolicies; first += together {
		var s scenario
		requests := map[string]request{}
		for i := first; i < min(first+together, *kindPolicies); i++ {
			g := newGenerator(*harness.Seed, uint64(i))
			one, made := g.builtInScenario(t, i)
			s.Policies, s.Bindings = append(s.Policies, one.Policies...), append(s.Bindings, one.Bindings...)
			for name, r := range made {
				requests[name] = r
				kinds[r.Kind]++
			}
		}
		got := compareIn(t, s, requests)
		if got.Unexplained != nil {
			for i := range s.Policies {
				alone := scenario{Policies: s.Policies[i : i+1], Bindings: s.Bindings[i : i+1]}
				own := map[string]request{}
				for name, r := range requests {
					if r.Name == s.Policies[i].Name {
						own[name] = r
					}
				}
				if again := compareIn(t, alone, own); again.Unexplained != nil {
					smaller, fewer := shrink(t, alone, own)
					for name, r := range fewer {
						t.Errorf("with -seed=%d, %s: %s", *harness.Seed, name, encode(t, r, r.Object))
					}
					t.Errorf("%s\n%s", harness.YAML(smaller), compareIn(t, smaller, fewer))
				}
			}
			t.FailNow()
		}
		for name, o := range got.outcomes {
			outcomes++
			if o.last().Error != "" {
				counted["refused"]++
			}
			if o.last().Object != encode(t, requests[name], requests[name].Object) {
				counted["changed"]++
			}
		}
	}
	t.Logf("%d kinds, %d outcomes: %v", len(kinds), outcomes, counted)
	if *kindPolicies >= 300 && (len(kinds) < 30 || counted["changed"]*100 < outcomes*40 || counted["refused"]*100 < outcomes*10) {
		t.Errorf("only %d kinds, and of %d outcomes %v", len(kinds), outcomes, counted)
	}
}

// builtInScenario generates a policy for a kind, and requests for objects of that kind that
// have the policy's name.
func (g *generator) builtInScenario(t *testing.T, number int) (scenario, map[string]request) {
	t.Helper()
	kind, name := g.kind(), fmt.Sprintf("k%04d.example.com", number)
	g.conditional = g.Chance(15)
	requests := map[string]request{}
	var m byModel
	for i := range 2 {
		r := g.builtInRequest(kind, name)
		requests[fmt.Sprintf("%s %s %d", kind.Kind, name, i)] = r
		m = byModel{generator: g}
		must(t, json.Unmarshal([]byte(encode(t, r, r.Object)), &m.root))
	}
	model := builtInModels()[modelOf(kind)]
	var spec spec
	for range harness.Pick(g, 1, 1, 2, 3, 4) {
		if g.Chance(75) {
			spec.Mutations = append(spec.Mutations, configuration(m.configuration(model)))
		} else {
			spec.Mutations = append(spec.Mutations, patch(m.patch()))
		}
	}
	if len(spec.Mutations) > 1 && g.Chance(30) {
		// Repeating the mutation changes nothing.
		spec.Mutations = append(spec.Mutations, spec.Mutations[0])
	}
	if g.conditional {
		when("object.metadata.name != ''")(&spec)
	}
	spec.FailurePolicy = harness.Pick(g, nil, new(v1.Ignore))
	spec.ReinvocationPolicy = harness.Pick(g, v1.NeverReinvocationPolicy, v1.IfNeededReinvocationPolicy)
	constraints := rule(kind.Group, kind.Version, resourceOf(kind).Resource)
	constraints.ResourceNames = []string{name}
	spec.MatchConstraints = matching(v1.Exact, constraints)
	return scenario{Policies: []*v1.MutatingAdmissionPolicy{policyOf(name, spec)}, Bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf(name, name)}}, requests
}

// TestEmptyParts merges apply configurations into objects with empty maps and lists, which
// affect defaulting.
func TestEmptyParts(t *testing.T) {
	node := request{
		Operation: admission.Create, Resource: corev1.SchemeGroupVersion.WithResource("nodes"), Kind: corev1.SchemeGroupVersion.WithKind("Node"), Name: "n", Options: &metav1.CreateOptions{}, User: harness.Jane,
		Object: internal(&corev1.Node{ObjectMeta: harness.Metadata("", "n"), Status: corev1.NodeStatus{Capacity: corev1.ResourceList{"cpu": resource.MustParse("1")}, Allocatable: corev1.ResourceList{}}}),
	}
	scaler := request{
		Operation: admission.Create, Resource: autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers"), Kind: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"), Namespace: "blue", Name: "h",
		Options: &metav1.CreateOptions{}, User: harness.Jane,
		Object: internal(&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: harness.Metadata("blue", "h"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			MaxReplicas: 3, Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{}}}}}),
	}
	got := compareIn(t, example{spec: applying(one, two)}.scenario(), map[string]request{"node": node, "scaler": scaler})
	if got.Unexplained != nil {
		t.Error(got)
	}
	for name, part := range map[string]string{"node": `"allocatable":{"cpu":"1"}`, "scaler": `"policies":[{"type":"Pods"`} {
		if object := got.outcomes[name].last().Object; !strings.Contains(object, part) {
			t.Errorf("there is no %s in\n%s", part, object)
		}
	}
}
