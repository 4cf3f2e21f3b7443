// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/mutating"
)

// cancelling is an authorizer that counts checks and cancels the context of the request during one.
type cancelling struct {
	cancel context.CancelFunc
	// completed is the number of checks before the check that cancels the context.
	completed, checks int
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (c *cancelling) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	if c.checks == c.completed {
		c.cancel()
	}
	c.checks++
	return authorizer.DecisionAllow, "", nil
}

// A request fails when its context ends, whatever failurePolicy is. No further mutation is applied,
// and the object is unchanged.
func TestInterruption(t *testing.T) {
	// Each check has a different name, because decisions are cached.
	check := func(name string) string {
		return `authorizer.group('').resource('pods').name(` + name + `).check('read').allowed()`
	}
	checked := func(key string) v1.Mutation { return policytest.SetData(key, "string("+check("'"+key+"'")+")") }
	of := func(name string, mutations ...v1.Mutation) *v1.MutatingAdmissionPolicy {
		return ifNeeded(ignoring(policytest.Mutating(name, mutations...)))
	}
	var policies []*v1.MutatingAdmissionPolicy
	for i := range 50 {
		policies = append(policies, of(fmt.Sprint("p", i), checked(fmt.Sprint("k", i))))
	}
	const endless = `lists.range(5000).all(i, i >= 0)`
	for name, test := range map[string]struct {
		policies []*v1.MutatingAdmissionPolicy
		// completed is the number of checks before the context ends, checks the total number.
		completed, checks int
		// reinvoked is set if the context ends when admission is reinvoked.
		reinvoked bool
	}{
		"between policies":       {policies, 2, 3, false},
		"between mutations":      {[]*v1.MutatingAdmissionPolicy{of("p", repeated(50, checked)...)}, 2, 3, false},
		"in the last expression": {[]*v1.MutatingAdmissionPolicy{of("p", policytest.SetData("k", "string("+check("'a'")+" && "+endless+")"))}, 0, 1, false},
		"in a match condition":   {[]*v1.MutatingAdmissionPolicy{matching(of("p", policytest.SetData("k", "'v'")), check("'a'")+" && "+endless)}, 0, 1, false},
		"in a condition":         {[]*v1.MutatingAdmissionPolicy{of("p", conditional(policytest.SetData("k", "'v'"), check("'a'")+" && "+endless))}, 0, 1, false},
		// Each round checks another name, the current length: 0 before reinvocation, 1 when
		// reinvoked, and 2 and more in the rounds of settle.
		"between rounds": {[]*v1.MutatingAdmissionPolicy{
			of("p", policytest.JSONPatch(check("string(object.data.a.size())")+`? [JSONPatch{op: "add", path: "/data/a", value: object.data.a + "x"}] : []`)),
		}, 4, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := &cancelling{cancel: cancel, completed: test.completed}
			s := create(on, configMap("a", ""), test.policies...)
			s.engine = mutating.NewEngine(mutating.Config{
				Config:     policy.Config{Namespaces: namespaces{}, Authorizer: client, Features: on},
				PluginName: "MutatingAdmissionPolicy", TypeConverters: converters{applyconfigurations.NewTypeConverter(scheme.Scheme)},
			})
			if test.reinvoked {
				if result, err := s.engine.Mutate(ctx, s.Attributes, interfaces, mutating.Options{}, s.snapshot); err != nil || len(result.Failures) > 0 {
					t.Fatalf("first run: got %v, failures %v", err, result.Failures)
				}
				s.GetReinvocationContext().SetIsReinvoke()
			}
			before := maps.Clone(s.data())
			result, err := s.engine.Mutate(ctx, s.Attributes, interfaces, mutating.Options{}, s.snapshot)
			if err == nil || !apierrors.IsTimeout(err) || err.Error() != "Timeout: request did not complete within requested timeout" {
				t.Errorf("got %v, failures %v, want a timeout", err, result.Failures)
			}
			if client.checks != test.checks {
				t.Errorf("%d permissions were checked, want %d", client.checks, test.checks)
			}
			if !maps.Equal(before, s.data()) {
				t.Errorf("the object has become %v, was %v", s.data(), before)
			}
		})
	}
}
