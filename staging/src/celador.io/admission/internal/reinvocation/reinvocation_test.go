// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package reinvocation_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/internal/reinvocation"
)

func pod(node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{NodeName: node}}
}

// A member is due in the second run if the object changed after its invocation.
func TestDue(t *testing.T) {
	const first, second, never = "first", "second", "never"
	for name, test := range map[string]struct {
		// run is the first run of admission.
		run func(*reinvocation.Tracker[string])
		// after is the object at the start of the second run. It was on node n.
		after runtime.Object
		due   []string
	}{
		"nothing changes": {
			run:   func(s *reinvocation.Tracker[string]) { s.Add(first); s.Add(second) },
			after: pod("n"),
		},
		"the second changes the object": {
			run:   func(s *reinvocation.Tracker[string]) { s.Add(first); s.Changed(); s.Add(second) },
			after: pod("n"),
			due:   []string{first},
		},
		"both change the object": {
			run:   func(s *reinvocation.Tracker[string]) { s.Changed(); s.Add(first); s.Changed(); s.Add(second) },
			after: pod("n"),
			due:   []string{first},
		},
		"another plugin changes the object": {
			run:   func(s *reinvocation.Tracker[string]) { s.Add(first); s.Changed(); s.Add(second) },
			after: pod("m"),
			due:   []string{first, second},
		},
		"another plugin removes the object": {
			run: func(s *reinvocation.Tracker[string]) { s.Add(first) },
			due: []string{first},
		},
		"nobody agreed": {
			run:   func(s *reinvocation.Tracker[string]) { s.Changed() },
			after: pod("m"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := admission.NewAttributesRecord(pod("n"), nil, corev1.SchemeGroupVersion.WithKind("Pod"), "", "web", corev1.SchemeGroupVersion.WithResource("pods"), "", admission.Create, nil, false, nil)
			state := reinvocation.Of[string](a, "Plugin")
			test.run(state)
			object := pod("n")
			state.Suspend(object)
			object.Spec.NodeName = "changed in place"

			state = reinvocation.Of[string](a, "Plugin")
			state.Resume(test.after)
			due := map[string]bool{}
			for _, member := range test.due {
				due[member] = true
			}
			for _, member := range []string{first, second, never} {
				if got := state.Due(member); got != due[member] {
					t.Errorf("%s is due: %t, want %t", member, got, due[member])
				}
			}
		})
	}
}

// The states of plugins are independent.
func TestStatesAreByPlugin(t *testing.T) {
	a := admission.NewAttributesRecord(pod("n"), nil, corev1.SchemeGroupVersion.WithKind("Pod"), "", "web", corev1.SchemeGroupVersion.WithResource("pods"), "", admission.Create, nil, false, nil)
	one := reinvocation.Of[string](a, "One")
	one.Add("member")
	one.Changed()
	if !reinvocation.Of[string](a, "One").Due("member") {
		t.Error("the plugin has forgotten its member")
	}
	if reinvocation.Of[string](a, "Other").Due("member") {
		t.Error("another plugin knows the member")
	}
}
