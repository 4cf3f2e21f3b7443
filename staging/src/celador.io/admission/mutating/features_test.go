// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/mutating"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
)

func singleton(p *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicy {
	p.Spec.PolicyType = new(v1.SingletonPolicy)
	return p
}

func fallback(b *v1.MutatingAdmissionPolicyBinding) *v1.MutatingAdmissionPolicyBinding {
	b.Spec.BindingType = new(v1.FallbackBinding)
	return b
}

// elsewhere narrows a binding to resources that no request is for.
func elsewhere(b *v1.MutatingAdmissionPolicyBinding) *v1.MutatingAdmissionPolicyBinding {
	b.Spec.MatchResources = policytest.Match(v1.Exact, policytest.Rule("example.com", "v1", "widgets"))
	return b
}

// mutateWith applies the objects, policies and bindings, to a request that creates the config map
// with data {"a": "1"}.
func mutateWith(t *testing.T, features policyspec.Features, objects ...runtime.Object) (data map[string]string, result mutating.Result) {
	t.Helper()
	s := create(features, configMap("a", "1"))
	snapshot, err := s.engine.NewSnapshot(objects...)
	if err != nil {
		t.Fatal(err)
	}
	s.snapshot = snapshot
	if result, err = s.mutate(t); err != nil {
		t.Fatal(err)
	}
	return s.data(), result
}

// bindingsOf returns the binding of each mutation.
func bindingsOf(result mutating.Result) (names []string) {
	for _, m := range result.Mutations {
		names = append(names, m.Binding)
	}
	return names
}

func TestSingleton(t *testing.T) {
	on := policyspec.Features{policyspec.MutatingSingleton: true}
	appended := func() *v1.MutatingAdmissionPolicy {
		return policytest.Mutating("p", policytest.SetData("a", "object.data.a + 'x'"))
	}
	for name, test := range map[string]struct {
		features policyspec.Features
		objects  []runtime.Object
		bindings []string
		want     string // data.a
	}{
		"on":                     {on, []runtime.Object{singleton(appended())}, []string{""}, "1x"},
		"on, bound all the same": {on, []runtime.Object{singleton(appended()), policytest.MutatingBinding("b", "p"), policytest.MutatingBinding("c", "p")}, []string{""}, "1x"},
		"on, another policy":     {on, []runtime.Object{appended()}, nil, "1"},
		"off":                    {nil, []runtime.Object{singleton(appended())}, nil, "1"},
		"off, bound":             {nil, []runtime.Object{singleton(appended()), policytest.MutatingBinding("b", "p"), policytest.MutatingBinding("c", "p")}, []string{"b", "c"}, "1xx"},
		"gate of the other kind": {policyspec.Features{policyspec.Singleton: true}, []runtime.Object{singleton(appended())}, nil, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			data, result := mutateWith(t, test.features, test.objects...)
			if data["a"] != test.want {
				t.Errorf("data.a is %q, want %q", data["a"], test.want)
			}
			if diff := cmp.Diff(test.bindings, bindingsOf(result)); diff != "" {
				t.Errorf("bindings of the mutations (-want +got):\n%s", diff)
			}
		})
	}
}

// The failures of a Singleton name the policy only.
func TestFailuresOfSingletons(t *testing.T) {
	on := policyspec.Features{policyspec.MutatingSingleton: true, policyspec.InlineExpressions: true}
	refusing := singleton(policytest.Mutating("p", inline("false")))
	_, result := mutateWith(t, on, refusing)
	want := []mutating.Failure{{Policy: "p", Message: "expression evaluated to false", Reason: metav1.StatusReasonInvalid, Stated: true, Refused: true}}
	if diff := cmp.Diff(want, result.Failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if err := result.Err(); err == nil || err.Error() != `policy "p" denied request: expression evaluated to false` {
		t.Errorf("got error %v", err)
	}
}

func TestFallbackBinding(t *testing.T) {
	on := policyspec.Features{policyspec.MutatingFallbackBinding: true}
	bound := func(name string) *v1.MutatingAdmissionPolicyBinding { return policytest.MutatingBinding(name, "p") }
	for name, test := range map[string]struct {
		features policyspec.Features
		bindings []runtime.Object
		want     []string
	}{
		"alone":                  {on, []runtime.Object{fallback(bound("z"))}, []string{"z"}},
		"two":                    {on, []runtime.Object{fallback(bound("z")), fallback(bound("a"))}, []string{"a", "z"}},
		"another applies":        {on, []runtime.Object{fallback(bound("a")), bound("b")}, []string{"b"}},
		"another does not":       {on, []runtime.Object{fallback(bound("a")), elsewhere(bound("b"))}, []string{"a"}},
		"itself does not match":  {on, []runtime.Object{fallback(elsewhere(bound("a")))}, nil},
		"off":                    {nil, []runtime.Object{fallback(bound("a")), bound("b")}, []string{"a", "b"}},
		"gate of the other kind": {policyspec.Features{policyspec.FallbackBinding: true}, []runtime.Object{fallback(bound("a")), bound("b")}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			policy := policytest.Mutating("p", policytest.SetData("a", "object.data.a + 'x'"))
			_, result := mutateWith(t, test.features, append(test.bindings, policy)...)
			if diff := cmp.Diff(test.want, bindingsOf(result)); diff != "" {
				t.Errorf("bindings of the mutations (-want +got):\n%s", diff)
			}
		})
	}
}
