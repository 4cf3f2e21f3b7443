// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

var kindPolicies = flag.Int("kind-policies", 360, "how many policies to make up for built-in kinds")

// together is the number of policies in one cluster.
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
			g := &generator{dice: rand.New(rand.NewPCG(*seed, uint64(i)))}
			one, made := g.builtInScenario(t, i)
			s.Policies, s.Bindings = append(s.Policies, one.Policies...), append(s.Bindings, one.Bindings...)
			for name, r := range made {
				requests[name] = r
				kinds[r.kind]++
			}
		}
		got := compareIn(t, s, requests)
		if got.unexplained != nil {
			for i := range s.Policies {
				alone := scenario{Policies: s.Policies[i : i+1], Bindings: s.Bindings[i : i+1]}
				own := map[string]request{}
				for name, r := range requests {
					if r.name == s.Policies[i].Name {
						own[name] = r
					}
				}
				if again := compareIn(t, alone, own); again.unexplained != nil {
					smaller, fewer := shrink(t, alone, own)
					for name, r := range fewer {
						t.Errorf("with -seed=%d, %s: %s", *seed, name, encode(t, r, r.object))
					}
					t.Errorf("%s\n%s", describe(smaller), compareIn(t, smaller, fewer))
				}
			}
			t.FailNow()
		}
		for name, o := range got.outcomes {
			outcomes++
			if o.last().Error != "" {
				counted["refused"]++
			}
			if o.last().Object != encode(t, requests[name], requests[name].object) {
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
	g.conditional = g.chance(15)
	requests := map[string]request{}
	var m byModel
	for i := range 2 {
		r := g.builtInRequest(kind, name)
		requests[fmt.Sprintf("%s %s %d", kind.Kind, name, i)] = r
		m = byModel{generator: g}
		must(t, json.Unmarshal([]byte(encode(t, r, r.object)), &m.root))
	}
	model := builtInModels()[modelOf(kind)]
	var spec spec
	for range pick(g, 1, 1, 2, 3, 4) {
		if g.chance(75) {
			spec.Mutations = append(spec.Mutations, configuration(m.configuration(model)))
		} else {
			spec.Mutations = append(spec.Mutations, patch(m.patch()))
		}
	}
	if len(spec.Mutations) > 1 && g.chance(30) {
		// Repeating the mutation changes nothing.
		spec.Mutations = append(spec.Mutations, spec.Mutations[0])
	}
	if g.conditional {
		when("object.metadata.name != ''")(&spec)
	}
	spec.FailurePolicy = pick(g, nil, new(v1.Ignore))
	spec.ReinvocationPolicy = pick(g, v1.NeverReinvocationPolicy, v1.IfNeededReinvocationPolicy)
	constraints := rule(kind.Group, kind.Version, resourceOf(kind).Resource)
	constraints.ResourceNames = []string{name}
	spec.MatchConstraints = matching(v1.Exact, constraints)
	return scenario{Policies: []*v1.MutatingAdmissionPolicy{policyOf(name, spec)}, Bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf(name, name)}}, requests
}

// TestEmptyParts merges apply configurations into objects with empty maps and lists, which
// affect defaulting.
func TestEmptyParts(t *testing.T) {
	node := request{
		operation: admission.Create, resource: corev1.SchemeGroupVersion.WithResource("nodes"), kind: corev1.SchemeGroupVersion.WithKind("Node"), name: "n", options: &metav1.CreateOptions{}, user: jane,
		object: internal(&corev1.Node{ObjectMeta: metadata("", "n"), Status: corev1.NodeStatus{Capacity: corev1.ResourceList{"cpu": resource.MustParse("1")}, Allocatable: corev1.ResourceList{}}}),
	}
	scaler := request{
		operation: admission.Create, resource: autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers"), kind: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"), namespace: "blue", name: "h",
		options: &metav1.CreateOptions{}, user: jane,
		object: internal(&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metadata("blue", "h"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			MaxReplicas: 3, Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: &autoscalingv2.HPAScalingRules{Policies: []autoscalingv2.HPAScalingPolicy{}}}}}),
	}
	got := compareIn(t, example{spec: applying(one, two)}.scenario(), map[string]request{"node": node, "scaler": scaler})
	if got.unexplained != nil {
		t.Error(got)
	}
	for name, part := range map[string]string{"node": `"allocatable":{"cpu":"1"}`, "scaler": `"policies":[{"type":"Pods"`} {
		if object := got.outcomes[name].last().Object; !strings.Contains(object, part) {
			t.Errorf("there is no %s in\n%s", part, object)
		}
	}
}
