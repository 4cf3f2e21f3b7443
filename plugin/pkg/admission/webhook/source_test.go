// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"

	engine "celador.io/admission/webhook"

	"celador.io/celador/plugin/pkg/admission/webhook"
)

// listed is a source whose webhooks a test changes.
type listed struct{ webhooks []upstream.WebhookAccessor }

func (l *listed) Webhooks() []upstream.WebhookAccessor { return l.webhooks }
func (l *listed) HasSynced() bool                      { return true }

func hook(name, condition string) upstream.WebhookAccessor {
	return upstream.NewValidatingWebhookAccessor(name, "configuration", &asValidating([]v1.MutatingWebhook{conditional(name, v1.Fail, condition)})[0])
}

func always() bool { return true }

// A compiled webhook is kept when other webhooks are added or removed.
func TestSourceKeepsWebhooks(t *testing.T) {
	a, b, c := hook("a", "true"), hook("b", "true"), hook("c", "true")
	list := &listed{[]upstream.WebhookAccessor{a, b}}
	source := webhook.NewAccessors(list, always)

	first := source.Webhooks()
	if names := names(first); !slices.Equal(names, []string{"a", "b"}) {
		t.Fatalf("webhooks are %v", names)
	}
	if again := source.Webhooks(); &again[0] != &first[0] {
		t.Error("another slice although nothing changed")
	}

	list.webhooks = []upstream.WebhookAccessor{b, c}
	second := source.Webhooks()
	if names := names(second); !slices.Equal(names, []string{"b", "c"}) {
		t.Fatalf("webhooks are %v", names)
	}
	if second[0].(*webhook.Accessor).Webhook != first[1].(*webhook.Accessor).Webhook {
		t.Error("webhook is compiled again although it did not change")
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

// Sets are made once while requests alternate between two lists of webhooks.
func TestSetsOfTwoLists(t *testing.T) {
	plugin, err := webhook.Validating.NewPlugin(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	webhooks := webhook.NewAccessors(&listed{[]upstream.WebhookAccessor{hook("a", "true"), hook("b", "true"), hook("c", "true")}}, always).Webhooks()
	static, all, changed := webhooks[:1], webhooks[:2], webhooks
	seen := map[*engine.Set]bool{}
	for i, request := range []struct {
		webhooks []upstream.WebhookAccessor
		made     bool
	}{
		{all, true}, {all, false}, {static, true}, {all, false}, {static, false},
		{changed, true}, {static, false}, {changed, false}, {all, true},
	} {
		set := plugin.Set(slices.Clone(request.webhooks))
		if made := !seen[set]; made != request.made {
			t.Errorf("request %d made a set: %t, want %t", i, made, request.made)
		}
		if got := len(set.NewRequest(t.Context(), webhooktesting.NewAttribute(namespace, nil, false), webhooktesting.NewObjectInterfacesForTest(), engine.Config{}).Candidates()); got != len(request.webhooks) {
			t.Errorf("request %d has %d webhooks, want %d", i, got, len(request.webhooks))
		}
		seen[set] = true
	}
}

// Without the feature gate, webhooks match as if they had no match conditions.
func TestSourceIgnoresConditions(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		source := webhook.NewAccessors(&listed{[]upstream.WebhookAccessor{hook("a", "false")}}, func() bool { return enabled })
		a := webhooktesting.NewAttribute(namespace, nil, false)
		set := engine.NewSet([]*engine.Webhook{source.Webhooks()[0].(*webhook.Accessor).Webhook})
		request := set.NewRequest(t.Context(), a, webhooktesting.NewObjectInterfacesForTest(), engine.Config{})
		got, err := request.Match(request.Candidates()[0])
		if err != nil || got.Matches == enabled {
			t.Errorf("gate is %t, webhook matches: %t, %v", enabled, got.Matches, err)
		}
	}
}
