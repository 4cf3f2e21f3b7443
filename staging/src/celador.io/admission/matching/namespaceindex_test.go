// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"maps"
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

func TestNamespaceIndex(t *testing.T) {
	selectors := []*metav1.LabelSelector{
		0: nil,
		1: {},
		2: blue,
		3: notBlue,
		4: requirement("color", metav1.LabelSelectorOpIn, "blue"),
		5: requirement("color", metav1.LabelSelectorOpIn, "blue", "red"),
		6: {MatchLabels: map[string]string{"color": "red"}},
		7: {MatchLabels: map[string]string{"size": "large"}},
		8: {MatchLabels: map[string]string{"color": "blue", "size": "large"}},
		9: requirement("color", metav1.LabelSelectorOpExists),
	}
	criteria := []*matching.Criteria{nil}
	for _, s := range selectors {
		criteria = append(criteria, matching.Compile(&v1.MatchResources{NamespaceSelector: s}))
	}
	criteria = append(criteria, matching.Compile(&v1.MatchResources{NamespaceSelector: invalid}))
	index := matching.NewNamespaceIndex(criteria)

	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	in := func(namespace string) ask {
		return ask{operation: admission.Create, resource: pods, kind: pod, namespace: namespace}
	}
	for name, test := range map[string]struct {
		ask  ask
		want []int
	}{
		"in blue":        {in("blue"), []int{0, 1, 2, 3, 4, 5, 6, 9, 10, 11}},
		"in plain":       {in("plain"), []int{0, 1, 2, 4, 6, 10, 11}},
		"in absent":      {in("absent"), all},
		"cluster-scoped": {ask{operation: admission.Create, resource: nodes, kind: node}, all},
		"of large namespace": {ask{operation: admission.Create, resource: namespaces, kind: namespace, namespace: "new",
			object: space(labelled("new", "size", "large"))}, []int{0, 1, 2, 4, 6, 8, 10, 11}},
	} {
		got := index.Candidates(test.ask.request(t))
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: candidates are %v, want %v", name, got, test.want)
		}
		for i, c := range criteria {
			if c == nil {
				continue
			}
			if _, matches, err := c.Match(test.ask.request(t)); (matches || err != nil) && !slices.Contains(got, i) {
				t.Errorf("%s: criteria %d match and are not candidates", name, i)
			}
		}
	}
}

func TestNamespaceIndexOfNothing(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(asks)) {
		if got := matching.NewNamespaceIndex(nil).Candidates(asks[name].request(t)); len(got) != 0 {
			t.Errorf("candidates of nothing are %v", got)
		}
	}
}
