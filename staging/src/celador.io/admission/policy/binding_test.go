// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"
)

func TestOpenKinds(t *testing.T) {
	source := newSource()
	s := newStore(false, source)
	other := limiting(limits)
	other.Name = "q"
	for i, step := range []struct {
		change func()
		want   map[schema.GroupVersionKind]int
	}{
		{func() { s.Set(limiting(limits)) }, map[schema.GroupVersionKind]int{}},
		{func() { s.Set(policytest.Binding("b", "p")) }, map[schema.GroupVersionKind]int{limits: 1}},
		{func() { s.Set(policytest.Binding("c", "p")) }, map[schema.GroupVersionKind]int{limits: 1}},
		{func() { s.Set(limiting(limits)) }, map[schema.GroupVersionKind]int{limits: 1}},
		{func() { s.Set(other) }, map[schema.GroupVersionKind]int{limits: 1}},
		{func() { s.Set(policytest.Binding("d", "q")) }, map[schema.GroupVersionKind]int{limits: 2}},
		{func() { s.Set(limiting(allLimits)) }, map[schema.GroupVersionKind]int{limits: 1, allLimits: 1}},
		{func() { s.DeleteBinding("b") }, map[schema.GroupVersionKind]int{limits: 1, allLimits: 1}},
		{func() { s.DeletePolicy("q") }, map[schema.GroupVersionKind]int{allLimits: 1}},
		{func() { s.DeleteBinding("c") }, map[schema.GroupVersionKind]int{}},
		{func() { s.Set(policytest.Binding("b", "p")) }, map[schema.GroupVersionKind]int{allLimits: 1}},
		{func() { s.Set(denyingWith("p", "no")) }, map[schema.GroupVersionKind]int{}},
		{func() { s.Set(limiting(unknown)) }, map[schema.GroupVersionKind]int{unknown: 1}},
		{func() { s.DeletePolicy("p") }, map[schema.GroupVersionKind]int{}},
	} {
		if step.change(); !maps.Equal(source.open, step.want) {
			t.Errorf("after step %d, open: %v, want %v", i, source.open, step.want)
		}
	}
}

// A binding that changes is in effect all the time, in its old or its new form. Kinds that are
// still needed stay open, because requests would have to wait for their informers again.
func TestChangedBinding(t *testing.T) {
	var steps []string
	source := newSource()
	s := newStore(false, source)
	source.changed = func(change string) { steps = append(steps, fmt.Sprint(change, " ", denials(t, s.Snapshot()))) }
	p, q := limiting(limits), limiting(allLimits)
	q.Name = "q"
	s.Set(p)
	s.Set(q)
	s.Set(withParam(policytest.Binding("b", "p"), "high"))
	s.Set(withParam(policytest.Binding("b", "p"), "low"))
	s.Set(withParam(policytest.Binding("b", "q"), "low"))
	s.DeleteBinding("b")
	if want := []string{"open []", "open [p/b: no low]", "close [q/b: no low]", "close []"}; !slices.Equal(steps, want) {
		t.Errorf("kinds are opened and closed, with bindings in effect: %q, want %q", steps, want)
	}
}

// Bindings that share match resources may differ in all other fields.
func TestSharedMatchResources(t *testing.T) {
	web := selecting("web")
	in := func(name string, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
		return narrowed(withParam(policytest.Binding(name, "p", actions...), "low"), web)
	}
	withoutParam := in("c")
	withoutParam.Spec.ParamRef = nil
	for name, test := range map[string]struct {
		objects []any
		want    []string
	}{
		"equals":         {[]any{in("a"), in("b")}, []string{"a low [Deny]", "b low [Deny]"}},
		"actions":        {[]any{in("a"), in("b", v1.Audit, v1.Warn), in("c", v1.Warn, v1.Audit)}, []string{"a low [Deny]", "b low [Audit Warn]", "c low [Warn Audit]"}},
		"params":         {[]any{in("a"), withParam(in("b"), "high"), withoutParam}, []string{"a low [Deny]", "b high [Deny]", "c [Deny]"}},
		"params, later":  {[]any{withoutParam, in("a")}, []string{"a low [Deny]", "c [Deny]"}},
		"fallback":       {[]any{in("b"), fallback(in("a"))}, []string{"b low [Deny]"}},
		"fallback first": {[]any{fallback(in("a")), in("b")}, []string{"b low [Deny]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(false, newSource(), append(test.objects, limiting(limits))...)
			var got []string
			var matches policy.Matches[string]
			matches.Init(t.Context(), request(t.Context()))
			for m := range matches.In(s.Snapshot()) {
				for b := range m.Bindings {
					found, err := b.Params()
					if err != nil {
						t.Fatal(err)
					}
					text := b.Name()
					for _, param := range found {
						if param != nil {
							text += " " + param.GetName()
						}
					}
					got = append(got, fmt.Sprint(text, " ", b.Actions()))
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
