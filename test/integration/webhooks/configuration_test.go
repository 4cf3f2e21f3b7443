// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// Kinds of webhook configurations.
const (
	validating = "ValidatingWebhookConfiguration"
	mutating   = "MutatingWebhookConfiguration"
)

// domain is the suffix of all webhook names, which tests omit.
const domain = ".webhooks.example.com"

// webhook describes a webhook of either kind.
type webhook struct {
	name          string
	rule          rule
	failurePolicy admissionregistrationv1.FailurePolicyType
	// conditions are the expressions of match conditions.
	conditions []string
}

// rule selects one operation on one resource.
type rule struct{ operation, group, version, resource string }

var createConfigMaps = rule{"CREATE", "", "v1", "configmaps"}

// configure creates webhooks that the hook serves for requests in a namespace. It returns when
// they are in effect, and deletes them at the end of the test.
func configure(t *testing.T, kind, namespace string, hook *webhookserver.Admission, webhooks ...webhook) {
	t.Helper()
	var list []map[string]any
	for _, w := range webhooks {
		conditions := []map[string]any{}
		for i, expression := range w.conditions {
			conditions = append(conditions, map[string]any{"name": fmt.Sprintf("condition-%d", i), "expression": expression})
		}
		entry := map[string]any{
			"name":              w.name + domain,
			"clientConfig":      hook.ClientConfig(w.name),
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{corev1.LabelMetadataName: namespace}},
			"matchConditions":   conditions,
			"rules": []map[string]any{{
				"operations": []string{w.rule.operation}, "apiGroups": []string{w.rule.group},
				"apiVersions": []string{w.rule.version}, "resources": []string{w.rule.resource},
			}},
			"sideEffects":             "None",
			"admissionReviewVersions": []string{"v1"},
		}
		if w.failurePolicy != "" {
			entry["failurePolicy"] = w.failurePolicy
		}
		list = append(list, entry)
	}
	write(t, configuration(t, kind, list))
	settle(t, kind)
}

// configuration returns a configuration with the webhooks and a unique name.
func configuration(t *testing.T, kind string, webhooks []map[string]any) *unstructured.Unstructured {
	t.Helper()
	// Encoding as YAML gives numbers and bytes the types of an unstructured object.
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": admissionregistrationv1.SchemeGroupVersion.String(),
		"kind":       kind,
		"metadata":   map[string]any{"name": testserver.UniqueName("webhooks")},
		"webhooks":   webhooks,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, string(text))}
}

// configurations returns a client for a kind of configuration.
func configurations(kind string) dynamic.ResourceInterface {
	return objects.Resource(schema.GroupVersionResource{
		Group: admissionregistrationv1.GroupName, Version: "v1", Resource: strings.ToLower(kind) + "s",
	})
}

// write creates a configuration and deletes it at the end of the test.
func write(t *testing.T, sent *unstructured.Unstructured) {
	t.Helper()
	client := configurations(sent.GetKind())
	if _, err := client.Create(t.Context(), sent, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, sent) })
}

func remove(t *testing.T, sent *unstructured.Unstructured) {
	t.Helper()
	testserver.ExpectDeleted(t, configurations(sent.GetKind()).Delete(context.Background(), sent.GetName(), metav1.DeleteOptions{}))
}

// settle returns when all earlier writes of configurations of the kind are in effect. The server
// receives the changes in the order of the writes, so a new configuration in effect proves that
// all earlier changes are.
func settle(t *testing.T, kind string) {
	t.Helper()
	label := testserver.UniqueName("settle")
	marker := configuration(t, kind, []map[string]any{{
		"name":                    label + domain,
		"clientConfig":            webhookserver.Admit(t, webhookserver.Deny("in effect")).ClientConfig(""),
		"objectSelector":          map[string]any{"matchLabels": map[string]any{"settle": label}},
		"rules":                   []map[string]any{{"operations": []string{"CREATE"}, "apiGroups": []string{""}, "apiVersions": []string{"v1"}, "resources": []string{"configmaps"}}},
		"sideEffects":             "None",
		"admissionReviewVersions": []string{"v1"},
	}})
	if _, err := configurations(kind).Create(context.Background(), marker, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	defer remove(t, marker)
	testserver.Eventually(t, func(ctx context.Context) error {
		sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: label, Labels: map[string]string{"settle": label}}}
		_, err := core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("%s is not denied yet: %w", label, err)
		}
		return nil
	})
}

// expectCalls checks the names of the webhooks that were called since the last check.
func expectCalls(t *testing.T, hook *webhookserver.Admission, want ...string) {
	t.Helper()
	var got []string
	for _, call := range hook.Take() {
		got = append(got, call.Webhook)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("called webhooks (-want +got):\n%s", diff)
	}
}
