// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// cancelling is an authorizer that counts checks and cancels the context of the request.
type cancelling struct {
	cancel context.CancelFunc
	checks int
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (c *cancelling) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	c.cancel()
	c.checks++
	return authorizer.DecisionAllow, "", nil
}

// A request whose context ends while match conditions are evaluated fails, even if
// failurePolicy is Ignore. No further condition is evaluated, and no webhook is called.
func TestInterruption(t *testing.T) {
	check := func(name string) string {
		return "authorizer.group('').resource('pods').name('" + name + "').check('read').allowed()"
	}
	interrupted := "!" + check("a") + " || lists.range(5000).all(i, i >= 0)"
	for name, conditions := range map[string][]string{
		"in the first condition": {interrupted, check("b"), check("c")},
		"in the last condition":  {interrupted},
	} {
		for of, k := range kinds {
			t.Run(of+" "+name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var webhooks []v1.MutatingWebhook
				for i, condition := range conditions {
					webhooks = append(webhooks, conditional(fmt.Sprint("w", i, ".example.com"), v1.Ignore, condition))
				}
				p, _ := k.started(t, unreachable, webhooktesting.NewAuthenticationInfoResolver(new(int32)), webhooks)
				client := &cancelling{cancel: cancel}
				p.SetUnconditionalAuthorizer(client)
				err := k.examine(ctx, p, webhooktesting.NewAttribute(namespace, nil, false))
				if _, ok := err.(*apierrors.StatusError); !ok || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "operation interrupted") {
					t.Errorf("got error %v, want a rejection", err)
				}
				if client.checks != 1 {
					t.Errorf("%d permissions were checked, want 1", client.checks)
				}
			})
		}
	}
}
