// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	upstreamv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/client-go/kubernetes/fake"
	listers "k8s.io/client-go/listers/core/v1"

	"celador.io/admission/matching"
)

// lister is the namespace lister of upstream's matcher.
type lister struct {
	listers.NamespaceLister
	storage
}

func (l lister) Get(name string) (*corev1.Namespace, error) {
	return l.storage.GetNamespace(context.Background(), name)
}

// stock implements upstream.MatchCriteria with match resources.
type stock upstreamv1.MatchResources

func (s *stock) GetParsedNamespaceSelector() (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(s.NamespaceSelector)
}

func (s *stock) GetParsedObjectSelector() (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(s.ObjectSelector)
}

func (s *stock) GetMatchResources() upstreamv1.MatchResources {
	return upstreamv1.MatchResources(*s)
}

// generator generates random criteria from few values, so that rules often match.
type generator struct{ *rand.Rand }

func pick[T any](g generator, choices ...T) T { return choices[g.IntN(len(choices))] }

func (g generator) rules(most int) []v1.NamedRuleWithOperations {
	rules := make([]v1.NamedRuleWithOperations, g.IntN(most+1))
	for i := range rules {
		rules[i] = v1.NamedRuleWithOperations{
			ResourceNames: pick(g, nil, nil, []string{"web"}, []string{"api", "blue"}),
			RuleWithOperations: v1.RuleWithOperations{
				Operations: pick(g, []v1.OperationType{"*"}, []v1.OperationType{v1.Create, v1.Update}, []v1.OperationType{v1.Delete}, []v1.OperationType{v1.Connect, "*"}, nil),
				Rule: v1.Rule{
					APIGroups:   pick(g, []string{"*"}, []string{""}, []string{"apps"}, []string{"extensions", "hotel.example.com"}, []string{"", "apps"}),
					APIVersions: pick(g, []string{"*"}, []string{"v1"}, []string{"v2"}, []string{"v1beta1", "v2"}),
					Resources: pick(g, []string{"*"}, []string{"*/*"}, []string{"deployments"}, []string{"deployments/*"}, []string{"*/scale"},
						[]string{"namespaces"}, []string{"namespaces/*", "pods"}, []string{"nodes", "pods/exec"}, []string{"pods/exec/now", "/"}),
					Scope: pick(g, nil, new(v1.AllScopes), new(v1.NamespacedScope), new(v1.ClusterScope), new(v1.ScopeType("Galactic"))),
				},
			},
		}
	}
	return rules
}

func (g generator) selector() *metav1.LabelSelector {
	everything := &metav1.LabelSelector{}
	return pick(g, everything, everything, everything, blue, notBlue, invalid)
}

func (g generator) criteria() *v1.MatchResources {
	return &v1.MatchResources{
		NamespaceSelector:    g.selector(),
		ObjectSelector:       g.selector(),
		ResourceRules:        g.rules(3),
		ExcludeResourceRules: g.rules(1),
		MatchPolicy:          pick(g, new(v1.Exact), new(v1.Exact), new(v1.Equivalent), new(v1.Equivalent)),
	}
}

// crossed returns requests for all resources, in namespaces that exist, do not exist or cannot be
// read, for objects with different labels.
func crossed() []ask {
	legacyAsk := ask{operation: admission.Create, resource: legacy, kind: deployment, namespace: "blue", name: "web"}
	roomPart := ask{operation: admission.Connect, resource: rooms, kind: room, subresource: "scale", namespace: "blue", name: "api"}
	removal := ask{operation: admission.Delete, resource: namespaces, kind: namespace, namespace: "blue", name: "blue"}
	bases := []ask{legacyAsk, roomPart, removal}
	for _, ask := range asks {
		bases = append(bases, ask)
	}
	object := func(color string) runtime.Object { return &corev1.Pod{ObjectMeta: labelled("a", "color", color)} }
	var result []ask
	for _, base := range bases {
		for _, namespace := range []string{"blue", "plain", "absent", "down", ""} {
			for _, objects := range [][2]runtime.Object{{nil, nil}, {object("blue"), nil}, {object("red"), object("blue")}, {nil, object("red")}, {&corev1.PodExecOptions{}, nil}} {
				base.object, base.old = objects[0], objects[1]
				if base.namespace = namespace; base.resource == namespaces {
					base.name = namespace
				}
				result = append(result, base)
			}
		}
	}
	return result
}

// Criteria match the same requests as upstream's matcher, with the same targets and errors.
func TestAsUpstream(t *testing.T) {
	const cases = 250
	g := generator{rand.New(rand.NewPCG(1, 2))}
	matcher := upstream.NewMatcher(lister{storage: stored()}, fake.NewClientset())
	interfaces, namespaces, requests := served(), stored(), crossed()
	var matches, failures int
	for range cases {
		criteria := g.criteria()
		manifest, err := json.Marshal(criteria)
		if err != nil {
			t.Fatal(err)
		}
		var theirs stock
		if err := json.Unmarshal(manifest, &theirs); err != nil {
			t.Fatal(err)
		}
		ours := matching.Compile(criteria)
		for _, ask := range requests {
			wantMatch, wantResource, wantKind, wantErr := matcher.Matches(ask.attributes(), interfaces, &theirs)
			want := matching.Target{Resource: wantResource, Kind: wantKind}
			target, match, err := ours.Match(matching.NewRequest(t.Context(), ask.attributes(), interfaces, namespaces))
			if match != wantMatch || target != want || text(err) != text(wantErr) || apierrors.ReasonForError(err) != apierrors.ReasonForError(wantErr) {
				t.Fatalf("%s\n%+v\ngot  %v %v %v\nwant %v %v %v", manifest, ask, match, target, err, wantMatch, want, wantErr)
			}
			if match {
				matches++
			}
			if err != nil {
				failures++
			}
		}
	}
	// The comparison needs enough requests that match and that fail.
	if total := cases * len(requests); matches < total/20 || failures < total/50 {
		t.Errorf("of %d requests, only %d match and %d fail", total, matches, failures)
	}
	t.Logf("%d requests compared: %d match, %d fail", cases*len(requests), matches, failures)
}
