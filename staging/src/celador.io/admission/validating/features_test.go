// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"slices"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"

	"celador.io/admission/policyspec"
)

func singleton(p *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicy {
	p.Spec.PolicyType = new(v1.SingletonPolicy)
	return p
}

func TestSingleton(t *testing.T) {
	on := policyspec.Features{policyspec.Singleton: true}
	for name, test := range map[string]struct {
		features policyspec.Features
		objects  []any
		want     []string
	}{
		"on":                      {on, []any{singleton(denyingWith("p", "no"))}, []string{"no"}},
		"on, bound all the same":  {on, []any{singleton(denyingWith("p", "no")), policytest.Binding("b", "p", v1.Warn)}, []string{"no"}},
		"on, bound beforehand":    {on, []any{policytest.Binding("b", "p"), singleton(denyingWith("p", "no"))}, []string{"no"}},
		"on, no longer singleton": {on, []any{policytest.Binding("b", "p"), singleton(denyingWith("p", "no")), denyingWith("p", "never")}, []string{"b: never"}},
		"on, another policy":      {on, []any{denyingWith("p", "no")}, nil},
		"off":                     {policyspec.Features{}, []any{singleton(denyingWith("p", "no"))}, nil},
		"off, bound":              {policyspec.Features{}, []any{singleton(denyingWith("p", "no")), policytest.Binding("b", "p")}, []string{"b: no"}},
	} {
		t.Run(name, func(t *testing.T) {
			decisions := evaluate(t, newServer(), create(5), storeWith(test.features, nil, test.objects...).Snapshot()).Decisions()
			if got := messages(decisions); !slices.Equal(got, test.want) {
				t.Errorf("messages are %q, want %q", got, test.want)
			}
			for _, d := range decisions {
				if !slices.Equal(d.Actions, []v1.ValidationAction{v1.Deny}) {
					t.Errorf("actions are %q", d.Actions)
				}
			}
		})
	}
}

func TestDeletedSingleton(t *testing.T) {
	s := storeWith(policyspec.Features{policyspec.Singleton: true}, nil, singleton(denyingWith("p", "no")))
	s.DeletePolicy("p")
	if got := denials(t, s.Snapshot()); got != nil {
		t.Errorf("in effect: %q", got)
	}
}

func TestValidationFailurePolicy(t *testing.T) {
	validations := func(own ...*v1.FailurePolicyType) []v1.Validation {
		result := []v1.Validation{{Expression: failing}, {Expression: "object.spec"}, {Expression: few}}
		for i := range result {
			result[i].FailurePolicy = own[i]
		}
		return result
	}
	fail, ignore := new(v1.Fail), new(v1.Ignore)
	for name, test := range map[string]struct {
		off     bool
		policy  *v1.FailurePolicyType
		own     []*v1.FailurePolicyType
		ignored []bool
	}{
		"all as the policy":         {policy: fail, own: []*v1.FailurePolicyType{nil, nil, nil}, ignored: []bool{false, false, false}},
		"policy ignores":            {policy: ignore, own: []*v1.FailurePolicyType{nil, nil, nil}, ignored: []bool{true, true, false}},
		"one ignores":               {policy: fail, own: []*v1.FailurePolicyType{ignore, nil, nil}, ignored: []bool{true, false, false}},
		"one ignores, by default":   {own: []*v1.FailurePolicyType{nil, ignore, nil}, ignored: []bool{false, true, false}},
		"one fails":                 {policy: ignore, own: []*v1.FailurePolicyType{fail, nil, nil}, ignored: []bool{false, true, false}},
		"a false one is no failure": {policy: fail, own: []*v1.FailurePolicyType{ignore, ignore, ignore}, ignored: []bool{true, true, false}},
		"off":                       {off: true, policy: fail, own: []*v1.FailurePolicyType{ignore, ignore, ignore}, ignored: []bool{false, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			p := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{FailurePolicy: test.policy, Validations: validations(test.own...)})
			s := storeWith(policyspec.Features{policyspec.ValidationFailurePolicy: !test.off}, nil, p, policytest.Binding("b", "p"))
			var ignored []bool
			for _, d := range evaluate(t, newServer(), create(9), s.Snapshot()).Decisions() {
				ignored = append(ignored, d.Ignored)
			}
			if diff := cmp.Diff(test.ignored, ignored); diff != "" {
				t.Errorf("ignored failures differ (-want +got):\n%s", diff)
			}
		})
	}
}

// The failurePolicy of a validation does not apply to failures of match conditions, params and
// other parts of the policy.
func TestValidationFailurePolicyScope(t *testing.T) {
	p := limiting(limits)
	p.Spec.Validations[0].FailurePolicy = new(v1.Ignore)
	conditional := policytest.Validating("q", v1.ValidatingAdmissionPolicySpec{MatchConditions: []v1.MatchCondition{{Name: "c", Expression: failing}}, Validations: p.Spec.Validations})
	s := storeWith(policyspec.Features{policyspec.ValidationFailurePolicy: true}, newObjects(), p, withParams(policytest.Binding("b", "p"), named("", "none")), conditional, policytest.Binding("c", "q"))
	decisions := evaluate(t, newServer(), create(9), s.Snapshot()).Decisions()
	if len(decisions) != 2 || decisions[0].Ignored || decisions[1].Ignored {
		t.Errorf("decisions are %+v, want two failures", decisions)
	}
}

func fallback(b *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBinding {
	b.Spec.BindingType = new(v1.FallbackBinding)
	return b
}

func TestFallbackBinding(t *testing.T) {
	on := policyspec.Features{policyspec.FallbackBinding: true}
	for name, test := range map[string]struct {
		features policyspec.Features
		objects  []any
		want     []string
	}{
		"alone":                       {on, []any{fallback(policytest.Binding("z", "p"))}, []string{"z"}},
		"two":                         {on, []any{fallback(policytest.Binding("z", "p")), fallback(policytest.Binding("a", "p"))}, []string{"a", "z"}},
		"another applies":             {on, []any{fallback(policytest.Binding("a", "p")), policytest.Binding("b", "p")}, []string{"b"}},
		"another does not":            {on, []any{fallback(policytest.Binding("a", "p")), narrowed("b", "p", inNamespaces("red"))}, []string{"a"}},
		"one of others applies":       {on, []any{fallback(policytest.Binding("a", "p")), narrowed("b", "p", inNamespaces("red")), narrowed("c", "p", inNamespaces("blue"))}, []string{"c"}},
		"itself does not match":       {on, []any{fallback(narrowed("a", "p", inNamespaces("red")))}, nil},
		"neither matches":             {on, []any{fallback(narrowed("a", "p", inNamespaces("red"))), narrowed("b", "p", inNamespaces("red"))}, nil},
		"another policy's binding":    {on, []any{fallback(policytest.Binding("a", "p")), policytest.Binding("b", "q")}, []string{"a"}},
		"another has params":          {on, []any{fallback(policytest.Binding("a", "p")), withParams(policytest.Binding("b", "p"), named("", "low"))}, []string{"b"}},
		"another lacks params":        {on, []any{fallback(policytest.Binding("a", "p")), withParams(policytest.Binding("b", "p"), allowing(named("", "none")))}, []string{"a"}},
		"another demands params":      {on, []any{fallback(policytest.Binding("a", "p")), withParams(policytest.Binding("b", "p"), named("", "none"))}, []string{"b"}},
		"params of its own":           {on, []any{fallback(withParams(policytest.Binding("a", "p"), named("red", "low"))), withParams(policytest.Binding("b", "p"), allowing(named("", "none")))}, []string{"a"}},
		"no longer a fallback":        {on, []any{fallback(policytest.Binding("a", "p")), policytest.Binding("b", "p"), policytest.Binding("a", "p")}, []string{"a", "b"}},
		"off":                         {policyspec.Features{}, []any{fallback(policytest.Binding("a", "p")), policytest.Binding("b", "p")}, []string{"a", "b"}},
		"off, another does not apply": {policyspec.Features{}, []any{fallback(policytest.Binding("a", "p")), narrowed("b", "p", inNamespaces("red"))}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeWith(test.features, newObjects(), append(test.objects, limiting(limits))...)
			if got := bindingNames(evaluate(t, newServer(), create(5), s.Snapshot()).Decisions()); !slices.Equal(got, test.want) {
				t.Errorf("bindings are %q, want %q", got, test.want)
			}
		})
	}
}
