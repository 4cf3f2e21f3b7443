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

// A policy with IfNeeded sees what policies after it have done, one with Never does not.
func TestReinvocationOfPolicies(t *testing.T) {
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
			expectEqual(t, "data", want, must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t))
		})
	}
}

// What a policy changes itself is a reason to ask it again, as it is in Kubernetes. So with
// IfNeeded, mutations should not depend on how often they are made.
func TestReinvocationAfterOwnChange(t *testing.T) {
	for reinvocation, want := range map[string]string{"Never": "x", "IfNeeded": "xx"} {
		ns := namespace(t)
		enforce(t, ns, on("CREATE", "", "configmaps")+mutations(appendOrder("'x'"))+"reinvocationPolicy: "+reinvocation)
		expectEqual(t, reinvocation, map[string]string{"order": want}, must(newConfigMap(t, ns, map[string]string{"order": ""}))(t))
	}
}

// Policies come before webhooks. Each sees what the other has done, and is asked again if it
// agreed to that and the other changed something.
func TestReinvocationWithWebhooks(t *testing.T) {
	for name, tc := range map[string]struct {
		policy  string
		webhook admissionregistrationv1.ReinvocationPolicyType
		// seen is what the policy found of the webhook, calls are what the webhook found of
		// the policy each time.
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
			got := must(newConfigMap(t, ns, map[string]string{"some": "data"}))(t)
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

// A webhook is not called again for an object that it has seen as it is, although a policy
// was asked again.
func TestNoCallWithoutChange(t *testing.T) {
	ns := namespace(t)
	hook := webhookserver.Admit(t, webhookserver.Allow)
	install(t, ns, hook, admissionregistrationv1.IfNeededReinvocationPolicy)
	enforce(t, ns, on("CREATE", "", "configmaps")+mutations(nothing)+"reinvocationPolicy: IfNeeded")
	hook.Take()
	expectEqual(t, "data", map[string]string{"order": "x"}, must(newConfigMap(t, ns, map[string]string{"order": "x"}))(t))
	if calls := hook.Take(); len(calls) != 1 {
		t.Errorf("the webhook was called %d times, want once", len(calls))
	}
}

// install has the server call the hook about new config maps in a namespace, until the end of
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
	must(client.Create(t.Context(), sent, metav1.CreateOptions{}))(t)
	t.Cleanup(func() { expectGone(t, client.Delete(context.Background(), sent.Name, metav1.DeleteOptions{})) })
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := core.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "data-"}, Data: map[string]string{"order": ""}}, dry)
		if err == nil && len(hook.Take()) == 0 {
			return errors.New("the webhook is not called yet")
		}
		return err
	})
}
