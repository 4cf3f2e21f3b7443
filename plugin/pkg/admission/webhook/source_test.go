// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"

	"celador.io/celador/plugin/pkg/admission/webhook"
)

// listed is a source whose webhooks a test changes.
type listed struct{ webhooks []upstream.WebhookAccessor }

func (l *listed) Webhooks() []upstream.WebhookAccessor { return l.webhooks }
func (l *listed) HasSynced() bool                      { return true }

func hook(name string, conditions ...v1.MatchCondition) upstream.WebhookAccessor {
	return upstream.NewValidatingWebhookAccessor(name, "configuration", &v1.ValidatingWebhook{Name: name, MatchConditions: conditions})
}

// What was compiled for a webhook stays while others come and go.
func TestSourceKeepsMatchers(t *testing.T) {
	a, b, c := hook("a"), hook("b"), hook("c")
	list := &listed{[]upstream.WebhookAccessor{a, b}}
	source := webhook.Validating.NewSource(list, func() bool { return true })

	first := source.Webhooks()
	if names := names(first); !slices.Equal(names, []string{"a", "b"}) {
		t.Fatalf("webhooks are %v", names)
	}
	matcher := first[1].GetCompiledMatcher(nil)
	if again := source.Webhooks(); &again[0] != &first[0] {
		t.Error("another slice although nothing changed")
	}

	list.webhooks = []upstream.WebhookAccessor{b, c}
	second := source.Webhooks()
	if names := names(second); !slices.Equal(names, []string{"b", "c"}) {
		t.Fatalf("webhooks are %v", names)
	}
	if second[0].GetCompiledMatcher(nil) != matcher {
		t.Error("another matcher although the webhook did not change")
	}

	list.webhooks = nil
	if got := source.Webhooks(); len(got) != 0 {
		t.Errorf("webhooks are %v after all are gone", names(got))
	}
}

func names(webhooks []upstream.WebhookAccessor) []string {
	var names []string
	for _, w := range webhooks {
		names = append(names, w.GetName())
	}
	return names
}

// With the gate off, webhooks are as they would be without match conditions.
func TestSourceIgnoresConditions(t *testing.T) {
	list := &listed{[]upstream.WebhookAccessor{hook("a", v1.MatchCondition{Name: "never", Expression: "false"})}}
	for _, on := range []bool{true, false} {
		source := webhook.Validating.NewSource(list, func() bool { return on })
		if got := len(source.Webhooks()[0].GetMatchConditions()) > 0; got != on {
			t.Errorf("gate is %t, there are conditions: %t", on, got)
		}
	}
}
