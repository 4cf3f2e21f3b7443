// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/playground"
)

func TestFromFiles(t *testing.T) {
	const (
		policy = "# Says no.\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nspec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n"
		bound  = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n"
		params = "apiVersion: v1\nkind: ConfigMap\n"
		role   = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"
		space  = "apiVersion: v1\nkind: Namespace\n"
		pod    = "apiVersion: v1\nkind: Pod\n"
		suite  = "apiVersion: test.celador.io/v1alpha1\nkind: Suite\n"
	)
	example, err := playground.FromFiles([]string{"a.yaml", "b.yaml"}, [][]byte{[]byte(policy + "---\n" + bound + "---\n" + space), []byte(pod + "---\n" + params + "---\n" + role + "---\n---\n" + pod + "---\n" + suite)})
	if err != nil {
		t.Fatal(err)
	}
	want := &playground.Example{Name: "files", Title: "a.yaml, b.yaml", PageState: playground.PageState{Panes: playground.Panes{
		Policy: policy, Binding: bound, Params: params, RBAC: role, Manifests: space + "---\n" + pod, Object: pod,
	}}}
	if diff := cmp.Diff(want, example); diff != "" {
		t.Errorf("example (-want +got):\n%s", diff)
	}
	const (
		reads   = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nspec:\n  lookups: [{name: pods, apiVersion: v1, kind: Pod}]\n"
		service = "apiVersion: v1\nkind: Service\n"
	)
	gates := map[string]bool{"AdmissionPolicyLookups": true}
	for name, test := range map[string]struct {
		text string
		want playground.PageState
	}{
		"a kind that is looked up":      {reads + "---\n" + pod + "---\n" + service, playground.PageState{FeatureGates: gates, Panes: playground.Panes{Policy: reads, Manifests: pod, Object: service}}},
		"only a kind that is looked up": {reads + "---\n" + pod + "---\n" + space, playground.PageState{FeatureGates: gates, Panes: playground.Panes{Policy: reads, Manifests: space, Object: pod}}},
	} {
		example, err := playground.FromFiles([]string{"a.yaml"}, [][]byte{[]byte(test.text)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, example.PageState); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
	if _, err := playground.FromFiles([]string{"bad.yaml"}, [][]byte{[]byte("a: [")}); err == nil || err.Error() != "bad.yaml:1: not valid YAML: did not find expected node content" {
		t.Errorf("error is %v", err)
	}
}
