// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/params"
	"celador.io/admission/policyspec"
	"celador.io/admission/validating"
)

// cancelling is an authorizer that counts checks and cancels the context of the request during one.
// It is also a params.Source.
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

// Lister implements params.Kind. It cancels the context.
func (c *cancelling) Lister(context.Context) (params.Lister, error) {
	c.cancel()
	return nil, errors.New("not known yet")
}

func (c *cancelling) Close() {}

// checking is an expression that makes several authorization checks, one after the other.
func checking(names string) string {
	return names + `.all(name, authorizer.group('').resource('pods').name(name).check('read').allowed())`
}

// A request fails when its context ends, whatever failurePolicy is. No further expression is
// evaluated.
func TestInterruption(t *testing.T) {
	ignoring := func(name string, spec v1.ValidatingAdmissionPolicySpec) *v1.ValidatingAdmissionPolicy {
		spec.FailurePolicy = new(v1.Ignore)
		return policytest.Validating(name, spec)
	}
	many := objects{open: newObjects().open, kinds: map[schema.GroupVersionKind]*kind{limits: {namespaced: true}}}
	many.kinds[limits].source, many.kinds[limits].gvk = &many, limits
	for i := range 100 {
		many.kinds[limits].items = append(many.kinds[limits].items, limit("blue", fmt.Sprint(i), int64(i), "gold"))
	}
	withParams := v1.ValidatingAdmissionPolicySpec{ParamKind: paramKindOf(limits), Validations: policytest.Validations(checking("[params.metadata.name]"))}
	var policies, bindings []any
	for i := range 100 {
		name := fmt.Sprint("p", i)
		policies = append(policies, ignoring(name, v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(checking("['" + name + "']"))}), policytest.Binding(name, name))
		b := policytest.Binding(name, "p")
		b.Spec.ParamRef = named("blue", fmt.Sprint(i))
		bindings = append(bindings, b)
	}
	bySelector := policytest.Binding("b", "p")
	bySelector.Spec.ParamRef = selected("blue", "gold")
	for name, test := range map[string]struct {
		objects []any
		// completed is the number of checks before the context ends, checks the total number.
		completed, checks int
	}{
		"between policies": {policies, 2, 3},
		"between bindings": {append(bindings, ignoring("p", withParams)), 2, 3},
		"between params":   {[]any{ignoring("p", withParams), bySelector}, 2, 3},
		"in the last expression": {[]any{
			ignoring("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(checking("['a']") + " && lists.range(5000).all(i, i >= 0)")}), policytest.Binding("b", "p"),
		}, 0, 1},
		"in a match condition": {[]any{
			ignoring("p", v1.ValidatingAdmissionPolicySpec{MatchConditions: []v1.MatchCondition{{Name: "c", Expression: checking("['a']") + " && lists.range(5000).all(i, i >= 0)"}}, Validations: policytest.Validations("false")}), policytest.Binding("b", "p"),
		}, 0, 1},
		"while waiting for params": {[]any{
			ignoring("p", v1.ValidatingAdmissionPolicySpec{ParamKind: paramKindOf(slow), Validations: policytest.Validations("params.x")}), policytest.Binding("b", "p"),
		}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := &cancelling{cancel: cancel, completed: test.completed}
			s := newServer()
			snapshot := storeWith(policyspec.Features{}, paramsOf{&many, client}, test.objects...).Snapshot()
			result, err := validating.NewEngine(validating.Config{Namespaces: s, Authorizer: client}).Evaluate(ctx, create(1), s, snapshot)
			if !apierrors.IsTimeout(err) || err.Error() != "Timeout: request did not complete within requested timeout" {
				t.Errorf("got %v and %d decisions, want a timeout", err, len(result.Decisions()))
			}
			if ctx.Err() == nil {
				t.Error("the client is still there")
			}
			if client.checks != test.checks {
				t.Errorf("%d permissions were checked, want %d", client.checks, test.checks)
			}
		})
	}
}

// A request whose context is done is not evaluated.
func TestInterruptedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newServer()
	snapshot := store(policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("authorizer.requestResource.check('read').allowed()")}), policytest.Binding("b", "p")).Snapshot()
	if _, err := validating.NewEngine(validating.Config{Namespaces: s, Authorizer: s}).Evaluate(ctx, create(1), s, snapshot); !apierrors.IsTimeout(err) {
		t.Errorf("got %v, want a timeout", err)
	}
	if s.checks+s.namespaces+s.conversions != 0 {
		t.Errorf("the engine did %d checks, %d lookups and %d conversions", s.checks, s.namespaces, s.conversions)
	}
}

// paramsOf is a params.Source that returns the objects of another source under another kind.
type paramsOf struct {
	*objects
	slow params.Handle
}

func (p paramsOf) Open(kind schema.GroupVersionKind) params.Handle {
	if kind == slow {
		return p.slow
	}
	return p.objects.Open(kind)
}
