// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	genericfeatures "k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

// rules returns the YAML of a webhook's field with a rule for each pair of groups and resources.
func rules(each ...[2]string) string {
	text := "rules:"
	for _, rule := range each {
		text += "\n  - {operations: [CREATE], apiVersions: ['*'], apiGroups: " + rule[0] + ", resources: " + rule[1] + "}"
	}
	return text
}

// TestWebhookWarnings creates and updates valid webhooks with rules that have no effect. The server
// warns about them in each response.
func TestWebhookWarnings(t *testing.T) {
	const noEffect = " is excluded from admission webhooks; this rule will have no effect"
	s := newWebhookServer(t)
	for title, tc := range map[string]struct {
		webhooks string
		// included sends requests for virtual resources to webhooks, as versions before 1.37 did.
		included bool
		want     []string
	}{
		"no rules":          {webhooks: webhook("a", ""), want: nil},
		"ordinary resource": {webhooks: webhook("a", rules([2]string{"[apps]", "[deployments]"})), want: nil},
		"all virtual resources": {
			webhooks: webhook("a", rules(
				[2]string{"[authentication.k8s.io]", "[selfsubjectreviews, tokenreviews]"},
				[2]string{"[authorization.k8s.io]", "[localsubjectaccessreviews, selfsubjectaccessreviews, selfsubjectrulesreviews, subjectaccessreviews]"},
			)),
			want: []string{
				"webhooks[0].rules[0]: selfsubjectreviews.authentication.k8s.io" + noEffect,
				"webhooks[0].rules[0]: tokenreviews.authentication.k8s.io" + noEffect,
				"webhooks[0].rules[1]: localsubjectaccessreviews.authorization.k8s.io" + noEffect,
				"webhooks[0].rules[1]: selfsubjectaccessreviews.authorization.k8s.io" + noEffect,
				"webhooks[0].rules[1]: selfsubjectrulesreviews.authorization.k8s.io" + noEffect,
				"webhooks[0].rules[1]: subjectaccessreviews.authorization.k8s.io" + noEffect,
			},
		},
		"one of several webhooks and resources": {
			webhooks: webhook("a", "") + webhook("b", rules([2]string{"[apps]", "[deployments]"}, [2]string{"[apps, authentication.k8s.io]", "[deployments, tokenreviews]"})),
			want:     []string{"webhooks[1].rules[1]: tokenreviews.authentication.k8s.io" + noEffect},
		},
		"with conditions": {
			webhooks: webhook("a", rules([2]string{"[authentication.k8s.io]", "[tokenreviews]"})+"\n  "+matchConditions(named("a"))),
			want:     []string{"webhooks[0].rules[0]: tokenreviews.authentication.k8s.io" + noEffect},
		},
		"resource of another group": {webhooks: webhook("a", rules([2]string{"[example.com]", "[tokenreviews]"})), want: nil},
		"all groups":                {webhooks: webhook("a", rules([2]string{"['*']", "[tokenreviews]"})), want: nil},
		"all resources":             {webhooks: webhook("a", rules([2]string{"[authentication.k8s.io]", "['*']"})), want: nil},
		"virtual resources left to webhooks": {
			webhooks: webhook("a", rules([2]string{"[authentication.k8s.io]", "[tokenreviews]"})), included: true, want: nil,
		},
		"unknown field": {
			webhooks: webhook("a", "matchCondition: []"),
			want:     []string{`unknown field "webhooks[0].matchCondition"`},
		},
		"unknown field of a condition": {
			webhooks: webhook("a", matchConditions("{name: a, expression: 'true', message: never}")),
			want:     []string{`unknown field "webhooks[0].matchConditions[0].message"`},
		},
	} {
		for resource := range webhookKinds {
			t.Run(title+", "+resource, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, genericfeatures.ExcludeAdmissionWebhookVirtualResources, !tc.included)
				const name = "demo"
				created := s.create(t, resource, name, tc.webhooks)
				t.Cleanup(func() { s.remove(t, resource, name) })
				if diff := cmp.Diff(tc.want, s.warnings.taken()); diff != "" {
					t.Errorf("create (-want +got):\n%s", diff)
				}
				sent := configuration(t, resource, name, tc.webhooks)
				sent.SetResourceVersion(created.GetResourceVersion())
				if _, err := s.resource(resource).Update(t.Context(), sent, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, s.warnings.taken()); diff != "" {
					t.Errorf("update (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestReservedNames writes configurations whose names are reserved for manifest files.
func TestReservedNames(t *testing.T) {
	const (
		name  = "demo.static.k8s.io"
		rule  = `names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API`
		label = `{"metadata": {"labels": {"team": "blue"}}}`
	)
	s := newWebhookServer(t)
	for resource := range webhookKinds {
		for title, tc := range map[string]struct {
			files        bool
			wantErrors   []string
			wantWarnings []string
		}{
			"with files":    {files: true, wantErrors: []string{`metadata.name: Invalid value: "` + name + `": ` + rule}},
			"without files": {files: false, wantWarnings: []string{"metadata.name: " + rule}},
		} {
			t.Run(title+", "+resource, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, genericfeatures.ManifestBasedAdmissionControlConfig, tc.files)
				sent := configuration(t, resource, name, webhook("a", ""))
				_, err := s.resource(resource).Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				if diff := cmp.Diff(tc.wantErrors, causes(t, err)); diff != "" {
					t.Errorf("create: errors (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.wantWarnings, s.warnings.taken()); diff != "" {
					t.Errorf("create: warnings (-want +got):\n%s", diff)
				}

				// A stored configuration with such a name can be updated, with a warning.
				s.put(t, resource, name, webhook("a", ""))
				t.Cleanup(func() { s.remove(t, resource, name) })
				if _, err := s.resource(resource).Patch(t.Context(), name, types.MergePatchType, []byte(label), metav1.PatchOptions{}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"metadata.name: " + rule}, s.warnings.taken()); diff != "" {
					t.Errorf("patch: warnings (-want +got):\n%s", diff)
				}
			})
		}
	}
}
