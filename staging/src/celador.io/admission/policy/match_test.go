// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"
)

func TestMatches(t *testing.T) {
	constrained := func(match *v1.MatchResources) *v1.ValidatingAdmissionPolicy {
		p := denyingWith("p", "no")
		p.Spec.MatchConstraints = match
		return p
	}
	invalid := selecting("web")
	invalid.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Resembles"}}}
	inNamespaces := policytest.Match(v1.Equivalent)
	inNamespaces.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue"}}
	malformed := limiting(limits)
	malformed.Spec.ParamKind.APIVersion = "a/b/c"
	const (
		policyErr  = "p/: failed to configure policy: "
		bindingErr = "p/b: failed to configure binding: "
		notValid   = `Internal error occurred: "Resembles" is not a valid label selector operator`
		noSource   = "failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'"
		forbidden  = "params of paramKind 'example.com/v1, Kind=Secret' cannot be read: secrets.example.com is forbidden: no permission"
		notServed  = "failed to find resource referenced by paramKind: 'example.com/v1, Kind=Unknown'"
	)
	b := func() *v1.ValidatingAdmissionPolicyBinding { return policytest.Binding("b", "p") }
	a := func() *v1.ValidatingAdmissionPolicyBinding { return fallback(policytest.Binding("a", "p")) }
	for name, test := range map[string]struct {
		objects   []any
		paramless bool
		want      []string
	}{
		"policy":                         {objects: []any{denyingWith("p", "no"), b()}, want: []string{"p/b: no"}},
		"policy that selects the object": {objects: []any{constrained(selecting("web")), b()}, want: []string{"p/b: no"}},
		"policy that selects others":     {objects: []any{constrained(selecting("db")), b()}},
		"policy for another resource":    {objects: []any{constrained(policytest.Match(v1.Exact, policytest.Rule("", "v1", "pods"))), b()}},
		"policy with a wrong selector":   {objects: []any{constrained(invalid), b()}, want: []string{policyErr + notValid}},
		"policy without constraints":     {objects: []any{constrained(nil), b()}, want: []string{policyErr + "policy contained no match constraints, a required field"}},
		"policy for namespaces":          {objects: []any{constrained(inNamespaces), b()}, want: []string{policyErr + `Internal error occurred: namespace "blue" is unknown, because the engine has no Namespaces`}},
		"policy with a wrong paramKind":  {objects: []any{malformed, b()}, want: []string{policyErr + "failed to parse paramKind APIVersion: unexpected GroupVersion string: a/b/c"}},
		"policy with an unknown kind":    {objects: []any{limiting(unknown), b()}, want: []string{policyErr + notServed}},
		"policy with forbidden params":   {objects: []any{limiting(secret), b()}, want: []string{policyErr + forbidden}},
		"policy without a source":        {objects: []any{limiting(limits), b()}, paramless: true, want: []string{policyErr + noSource}},
		"binding that selects others":    {objects: []any{denyingWith("p", "no"), narrowed(b(), selecting("db"))}},
		"binding with a wrong selector":  {objects: []any{denyingWith("p", "no"), narrowed(b(), invalid)}, want: []string{bindingErr + notValid}},
		"param":                          {objects: []any{limiting(limits), withParam(b(), "low")}, want: []string{"p/b: no low"}},
		"param not found":                {objects: []any{limiting(limits), withParam(b(), "none")}, want: []string{bindingErr + "no params found for policy binding with `Deny` parameterNotFoundAction"}},
		"param not found, allowed":       {objects: []any{limiting(limits), allowing(withParam(b(), "none"))}},
		"no paramRef":                    {objects: []any{limiting(limits), b()}, want: []string{"p/b: no"}},
		"paramRef, but no paramKind":     {objects: []any{denyingWith("p", "no"), withParam(b(), "none")}, want: []string{"p/b: no"}},
		"singleton":                      {objects: []any{singleton(denyingWith("p", "no"))}, want: []string{"p/: no"}},
		"bound singleton":                {objects: []any{b(), singleton(denyingWith("p", "no"))}, want: []string{"p/: no"}},
		"singleton no more":              {objects: []any{b(), singleton(denyingWith("p", "no")), denyingWith("p", "never")}, want: []string{"p/b: never"}},
		"fallback":                       {objects: []any{denyingWith("p", "no"), a()}, want: []string{"p/a: no"}},
		"fallback beside a binding":      {objects: []any{denyingWith("p", "no"), a(), b()}, want: []string{"p/b: no"}},
		"fallback, others match not":     {objects: []any{denyingWith("p", "no"), a(), narrowed(b(), selecting("db"))}, want: []string{"p/a: no"}},
		"fallback, others lack params":   {objects: []any{limiting(limits), a(), allowing(withParam(b(), "none"))}, want: []string{"p/a: no"}},
		"fallback, others misconfigured": {objects: []any{denyingWith("p", "no"), a(), narrowed(b(), invalid)}, want: []string{bindingErr + notValid}},
		"fallback no more":               {objects: []any{denyingWith("p", "no"), a(), b(), policytest.Binding("a", "p")}, want: []string{"p/a: no", "p/b: no"}},
		"fallback from now on":           {objects: []any{denyingWith("p", "no"), b(), policytest.Binding("a", "p"), a()}, want: []string{"p/b: no"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(false, newSource(), test.objects...)
			if test.paramless {
				s = newStore(false, nil, test.objects...)
			}
			if got := denials(t, s.Snapshot()); !slices.Equal(got, test.want) {
				t.Errorf("matched %q\nwant %q", got, test.want)
			}
			// To explain why policies do not match, all of them are examined.
			logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(5)))
			if got := matched(klog.NewContext(t.Context(), logger), s.Snapshot()); !slices.Equal(got, test.want) {
				t.Errorf("with log, matched %q\nwant %q", got, test.want)
			}
		})
	}
}

// three returns a snapshot of three policies with three bindings each, one of which is a fallback.
func three() *snapshot {
	s := newStore(false, nil)
	for _, p := range []string{"p", "q", "r"} {
		s.Set(denyingWith(p, "no"))
		s.Set(policytest.Binding(p+"1", p))
		s.Set(policytest.Binding(p+"2", p))
		s.Set(fallback(policytest.Binding(p+"3", p)))
	}
	return s.Snapshot()
}

// visit iterates over the policies and bindings of a snapshot. Either iteration ends at an item
// that is last. It returns the names of the visited items.
func visit(ctx context.Context, s *snapshot, last func(name string) bool) []string {
	var names []string
	var matches policy.Matches[string]
	matches.Init(ctx, request(ctx))
	for m := range matches.In(s) {
		names = append(names, m.Name)
		for b := range m.Bindings {
			names = append(names, b.Name())
			if last(b.Name()) {
				break
			}
		}
		if last(m.Name) {
			break
		}
	}
	return names
}

func TestBreak(t *testing.T) {
	for name, test := range map[string]struct {
		last func(string) bool
		want []string
	}{
		"never":          {func(string) bool { return false }, []string{"p", "p1", "p2", "q", "q1", "q2", "r", "r1", "r2"}},
		"at a policy":    {func(name string) bool { return name == "q" }, []string{"p", "p1", "p2", "q", "q1", "q2"}},
		"at a binding":   {func(name string) bool { return name == "p1" }, []string{"p", "p1", "q", "q1", "q2", "r", "r1", "r2"}},
		"at the last":    {func(name string) bool { return name == "p2" }, []string{"p", "p1", "p2", "q", "q1", "q2", "r", "r1", "r2"}},
		"everywhere":     {func(string) bool { return true }, []string{"p", "p1"}},
		"at one of each": {func(name string) bool { return name == "q1" || name == "q" }, []string{"p", "p1", "p2", "q", "q1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := visit(t.Context(), three(), test.last); !slices.Equal(got, test.want) {
				t.Errorf("visited %q, want %q", got, test.want)
			}
		})
	}
}

// Iteration stops when the context of the request is done.
func TestInterruption(t *testing.T) {
	for after, want := range map[string][]string{
		"":   nil,
		"p1": {"p", "p1"},
		"p2": {"p", "p1", "p2"},
		"q1": {"p", "p1", "p2", "q", "q1"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if after == "" {
			cancel()
		}
		got := visit(ctx, three(), func(name string) bool {
			if name == after {
				cancel()
			}
			return false
		})
		cancel()
		if !slices.Equal(got, want) {
			t.Errorf("interrupted after %q, visited %q, want %q", after, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	unconstrained := denyingWith("p", "no")
	unconstrained.Spec.MatchConstraints = nil
	for name, test := range map[string]struct {
		policy *v1.ValidatingAdmissionPolicy
		want   []string
	}{
		"none":           {denyingWith("p", "no"), nil},
		"no constraints": {unconstrained, []string{"policy contained no match constraints, a required field"}},
		"expressions": {
			policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
				MatchConditions: []v1.MatchCondition{{Name: "m", Expression: "1"}},
				Variables:       []v1.Variable{{Name: "x", Expression: "y"}},
				Validations:     []v1.Validation{{Expression: "true"}, {Expression: "true", MessageExpression: "1"}},
			}),
			[]string{
				"spec.variables[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'y' (in container '')\n | y\n | ^",
				"spec.matchConditions[0].expression: must evaluate to bool but got int",
				"spec.validations[1].messageExpression: must evaluate to string but got int",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range descriptor.Policy(test.policy).Errors() {
				got = append(got, err.Error())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("errors are %q\nwant %q", got, test.want)
			}
		})
	}
}

// A loop that ends at a binding without params does not see fallback bindings.
func TestBreakWithoutParams(t *testing.T) {
	s := newStore(false, newSource(), limiting(limits), allowing(withParam(policytest.Binding("b", "p"), "none")), fallback(policytest.Binding("a", "p")))
	var matches policy.Matches[string]
	matches.Init(t.Context(), request(t.Context()))
	for m := range matches.In(s.Snapshot()) {
		m.Bindings(func(b *policy.BindingMatch[string]) bool {
			if found, err := b.Params(); b.Name() != "b" || len(found) != 0 || err != nil {
				t.Errorf("binding %s has params %v, %v", b.Name(), found, err)
			}
			return false
		})
	}
}
