// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/matching"
)

// item is a matching.Item whose name is a number.
type item struct {
	number   int
	criteria *matching.Criteria
}

func (i item) Name() string                 { return fmt.Sprintf("%05d", i.number) }
func (i item) Criteria() *matching.Criteria { return i.criteria }

func numbers(items [][]item) []int {
	var result []int
	for _, i := range slices.Concat(items...) {
		result = append(result, i.number)
	}
	return result
}

func selecting(s *metav1.LabelSelector) *matching.Criteria {
	return matching.Compile(&v1.MatchResources{NamespaceSelector: s})
}

func TestNamespaceIndex(t *testing.T) {
	criteria := []*matching.Criteria{
		0:  nil,
		1:  selecting(nil),
		2:  selecting(&metav1.LabelSelector{}),
		3:  selecting(blue),
		4:  selecting(notBlue),
		5:  selecting(requirement("color", metav1.LabelSelectorOpIn, "blue")),
		6:  selecting(requirement("color", metav1.LabelSelectorOpIn, "blue", "red")),
		7:  selecting(&metav1.LabelSelector{MatchLabels: map[string]string{"color": "red"}}),
		8:  selecting(&metav1.LabelSelector{MatchLabels: map[string]string{"size": "large"}}),
		9:  selecting(&metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue", "size": "large"}}),
		10: selecting(requirement("color", metav1.LabelSelectorOpExists)),
		11: selecting(invalid),
	}
	var index, ofColors matching.NamespaceIndex[item]
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(criteria)) {
		index = index.With(item{i, criteria[i]})
	}
	for i := range 6 {
		ofColors = ofColors.With(item{i, criteria[[]int{3, 5, 7}[i%3]]})
	}

	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	in := func(namespace string) ask {
		return ask{operation: admission.Create, resource: pods, kind: pod, namespace: namespace}
	}
	for name, test := range map[string]struct {
		ask            ask
		want, ofColors []int
	}{
		"in blue":        {in("blue"), []int{0, 1, 2, 3, 4, 5, 6, 9, 10, 11}, []int{0, 1, 3, 4}},
		"in plain":       {in("plain"), []int{0, 1, 2, 4, 6, 10, 11}, nil},
		"in absent":      {in("absent"), all, []int{0, 1, 2, 3, 4, 5}},
		"cluster-scoped": {ask{operation: admission.Create, resource: nodes, kind: node}, all, []int{0, 1, 2, 3, 4, 5}},
		"of large namespace": {ask{operation: admission.Create, resource: namespaces, kind: namespace, namespace: "new",
			object: space(labelled("new", "size", "large"))}, []int{0, 1, 2, 4, 6, 8, 10, 11}, nil},
	} {
		got := numbers(index.Candidates(test.ask.request(t)))
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
		if got := numbers(ofColors.Candidates(test.ask.request(t))); !slices.Equal(got, test.ofColors) {
			t.Errorf("%s: candidates are %v, want %v, when all require a color", name, got, test.ofColors)
		}
	}
	if got := numbers(index.All()); !slices.Equal(got, all) || index.Len() != len(all) {
		t.Errorf("all %d are %v, want %v", index.Len(), got, all)
	}
}

// An index has the correct items after any number of changes, and earlier indexes are unchanged.
func TestNamespaceIndexChanges(t *testing.T) {
	type version struct {
		index matching.NamespaceIndex[item]
		has   map[int]item
	}
	criteria := []*matching.Criteria{nil, selecting(blue), selecting(requirement("color", metav1.LabelSelectorOpIn, "red")), selecting(notBlue)}
	g := generator{rand.New(rand.NewPCG(3, 4))}
	now := version{has: map[int]item{}}
	var versions []version
	change := func(i item, add bool) {
		if add {
			now.index, now.has[i.number] = now.index.With(i), i
		} else {
			now.index = now.index.Without(i.Name())
			delete(now.has, i.number)
		}
	}
	keep := func() { versions = append(versions, version{now.index, maps.Clone(now.has)}) }
	keep()
	for n := range 2000 { // in order, as from a list
		change(item{n, pick(g, criteria...)}, true)
	}
	keep()
	for step := range 2000 {
		change(item{g.IntN(3000), pick(g, criteria...)}, g.IntN(3) > 0)
		if step%500 == 0 {
			keep()
		}
	}
	for _, n := range g.Perm(3000)[:2990] {
		change(item{number: n}, false)
	}
	keep()

	request := ask{operation: admission.Create, resource: pods, kind: pod, namespace: "blue"}.request(t)
	for i, v := range versions {
		all := slices.Sorted(maps.Keys(v.has))
		if got := numbers(v.index.All()); !slices.Equal(got, all) || v.index.Len() != len(all) {
			t.Errorf("version %d has %v, want %v", i, got, all)
		}
		certain := slices.DeleteFunc(all, func(n int) bool { return v.has[n].criteria == criteria[2] })
		if got := numbers(v.index.Candidates(request)); !slices.Equal(got, certain) {
			t.Errorf("candidates of version %d are %v, want %v", i, got, certain)
		}
		for _, found := range slices.Concat(v.index.All()...) {
			if found != v.has[found.number] {
				t.Errorf("version %d has an obsolete item %d", i, found.number)
			}
		}
	}
}

func TestNamespaceIndexOfNothing(t *testing.T) {
	var index matching.NamespaceIndex[item]
	for _, name := range slices.Sorted(maps.Keys(asks)) {
		if got := numbers(index.Without("other").Candidates(asks[name].request(t))); len(got) != 0 {
			t.Errorf("candidates of nothing are %v", got)
		}
	}
}
