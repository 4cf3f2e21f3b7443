// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// A policy with reinvocationPolicy IfNeeded sees the changes of later policies; one with Never
// does not.
func TestReinvocationOfPolicies(t *testing.T) {
	t.Parallel()
	for reinvocation, want := range map[string]map[string]string{
		"Never":    {"some": "data", "seen": "nothing", "late": "yes"},
		"IfNeeded": {"some": "data", "seen": "yes", "late": "yes"},
	} {
		t.Run(reinvocation, func(t *testing.T) {
			ns := namespace(t)
			enforceAll(t, ns,
				"a", on("CREATE", "", "configmaps")+mutations(set("seen", "object.data.?late.orValue('nothing')"))+"reinvocationPolicy: "+reinvocation,
				"b", on("CREATE", "", "configmaps")+mutations(set("late", "'yes'")),
			)
			expectEqual(t, "data", want, testserver.Must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t))
		})
	}
}

// A policy's own change also causes reinvocation, as in Kubernetes. Mutations with IfNeeded must
// therefore be idempotent.
func TestReinvocationAfterOwnChange(t *testing.T) {
	t.Parallel()
	for reinvocation, want := range map[string]string{"Never": "x", "IfNeeded": "xx"} {
		ns := namespace(t)
		enforce(t, ns, on("CREATE", "", "configmaps")+mutations(appendOrder("'x'"))+"reinvocationPolicy: "+reinvocation)
		expectEqual(t, reinvocation, map[string]string{"order": want}, testserver.Must(newConfigMap(t, ns, map[string]string{"order": ""}))(t))
	}
}

// Policies run before webhooks. Each side sees the changes of the other, and is reinvoked after
// them if its reinvocationPolicy is IfNeeded.
func TestReinvocationWithWebhooks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy  string
		webhook admissionregistrationv1.ReinvocationPolicyType
		// seen is the webhook's change as the policy saw it, and calls are the policy's changes as
		// the webhook saw them in each call.
		seen  string
		calls []string
	}{
		"neither": {"Never", admissionregistrationv1.NeverReinvocationPolicy, "nothing", []string{"nothing"}},
		"policy":  {"IfNeeded", admissionregistrationv1.NeverReinvocationPolicy, "webhook", []string{"nothing"}},
		"webhook": {"Never", admissionregistrationv1.IfNeededReinvocationPolicy, "nothing", []string{"nothing"}},
		"both":    {"IfNeeded", admissionregistrationv1.IfNeededReinvocationPolicy, "webhook", []string{"nothing", "webhook"}},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			hook := webhookserver.Admit(t, webhookserver.Patch(`[{"op": "add", "path": "/data/hook", "value": "webhook"}]`))
			install(t, ns, hook, tc.webhook)
			enforce(t, ns, on("CREATE", "", "configmaps")+mutations(set("seen", "object.data.?hook.orValue('nothing')"))+"reinvocationPolicy: "+tc.policy)
			hook.Take()
			got := testserver.Must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t)
			expectEqual(t, "data", map[string]string{"some": "data", "seen": tc.seen, "hook": "webhook"}, got)

			var calls []string
			for _, call := range hook.Take() {
				var sent corev1.ConfigMap
				if err := json.Unmarshal(call.Review.Request.Object.Raw, &sent); err != nil {
					t.Fatal(err)
				}
				calls = append(calls, sent.Data["seen"])
			}
			expectEqual(t, "what the webhook saw", tc.calls, calls)
		})
	}
}

// A webhook is not called again for an unchanged object, even if a policy was reinvoked.
func TestNoCallWithoutChange(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	hook := webhookserver.Admit(t, webhookserver.Allow)
	install(t, ns, hook, admissionregistrationv1.IfNeededReinvocationPolicy)
	enforce(t, ns, on("CREATE", "", "configmaps")+mutations(nothing)+"reinvocationPolicy: IfNeeded")
	hook.Take()
	expectEqual(t, "data", map[string]string{"order": "x"}, testserver.Must(newConfigMap(t, ns, map[string]string{"order": "x"}))(t))
	if calls := hook.Take(); len(calls) != 1 {
		t.Errorf("the webhook was called %d times, want once", len(calls))
	}
}

// install configures the hook as a webhook for new config maps in a namespace until the end of
// the test.
func install(t *testing.T, namespace string, hook *webhookserver.Admission, reinvocation admissionregistrationv1.ReinvocationPolicyType) {
	t.Helper()
	client := core.AdmissionregistrationV1().MutatingWebhookConfigurations()
	sent := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("webhook")},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:              "change.example.com",
			ClientConfig:      hook.ClientConfig(""),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			ReinvocationPolicy:      &reinvocation,
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	testserver.Create(t, client, sent)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := core.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "data-"}, Data: map[string]string{"order": ""}}, dry)
		if err == nil && len(hook.Take()) == 0 {
			return errors.New("the webhook is not called yet")
		}
		return err
	})
}
