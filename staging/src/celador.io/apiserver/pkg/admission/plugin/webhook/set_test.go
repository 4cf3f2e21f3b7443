// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"slices"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	engine "celador.io/admission/webhook"

	"celador.io/apiserver/pkg/admission/plugin/webhook"
	"celador.io/apiserver/pkg/features"
)

func hook(name, condition string) upstream.WebhookAccessor {
	return upstream.NewValidatingWebhookAccessor(name, "configuration", &asValidating([]v1.MutatingWebhook{conditional(name, v1.Fail, condition)})[0])
}

func newPlugin(t *testing.T) *webhook.Plugin {
	t.Helper()
	plugin, err := webhook.Validating.NewPlugin(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

// A compiled webhook is kept when other webhooks are added or removed.
func TestSetKeepsWebhooks(t *testing.T) {
	plugin := newPlugin(t)
	a, b, c := hook("a", "true"), hook("b", "true"), hook("c", "true")
	first, second := plugin.Set([]upstream.WebhookAccessor{a, b}), plugin.Set([]upstream.WebhookAccessor{b, c})
	for i, want := range []struct{ got, name string }{{first.At(0).GetName(), "a"}, {first.At(1).GetName(), "b"}, {second.At(0).GetName(), "b"}, {second.At(1).GetName(), "c"}} {
		if want.got != want.name {
			t.Errorf("webhook %d is %s, want %s", i, want.got, want.name)
		}
	}
	if first.At(1) != second.At(0) {
		t.Error("webhook is compiled again although it did not change")
	}
	if third := plugin.Set([]upstream.WebhookAccessor{a}); third.At(0) != first.At(0) {
		t.Error("webhook of the set before is compiled again")
	}
}

// Sets are made once while requests alternate between two lists of webhooks.
func TestSetsOfTwoLists(t *testing.T) {
	plugin := newPlugin(t)
	webhooks := []upstream.WebhookAccessor{hook("a", "true"), hook("b", "true"), hook("c", "true")}
	static, all, changed := webhooks[:1], webhooks[:2], webhooks
	seen := map[*webhook.Set]bool{}
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
func TestSetIgnoresConditions(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		plugin, gates := newPlugin(t), utilfeature.DefaultMutableFeatureGate.DeepCopy()
		if err := gates.SetFromMap(map[string]bool{string(features.AdmissionWebhookMatchConditions): enabled}); err != nil {
			t.Fatal(err)
		}
		plugin.InspectFeatureGates(gates)
		a := webhooktesting.NewAttribute(namespace, nil, false)
		request := plugin.Set([]upstream.WebhookAccessor{hook("a", "false")}).NewRequest(t.Context(), a, webhooktesting.NewObjectInterfacesForTest(), engine.Config{})
		got, err := request.Match(request.Candidates()[0])
		if err != nil || got.Matches == enabled {
			t.Errorf("gate is %t, webhook matches: %t, %v", enabled, got.Matches, err)
		}
	}
}
