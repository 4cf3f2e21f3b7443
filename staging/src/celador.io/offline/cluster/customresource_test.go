// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"
)

func TestCustomResources(t *testing.T) {
	const sizes = `object.kind + ' ' + string(object.spec.size) + (oldObject == null ? '' : ' was ' + string(oldObject.spec.size))`
	for name, test := range map[string]struct {
		policy  string
		request func(t *testing.T) *cluster.Request
		want    string
	}{
		"default": {
			clustertest.Report("example.com", "v1", "widgets", sizes),
			func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Create, Object: clustertest.Widget(t, "v1", "spec: {}")}
			},
			"Widget 3",
		},
		"update of another version": {
			clustertest.Report("example.com", "v2", "widgets", sizes+" + ' ' + object.apiVersion"),
			func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Update, Object: clustertest.Widget(t, "v1", "spec: {size: 5}"), OldObject: clustertest.Widget(t, "v2", "spec: {size: 4}")}
			},
			"Widget 5 was 4 example.com/v2",
		},
		"status": {
			clustertest.Report("example.com", "v1", "widgets/status", "object.status.phase + ' ' + string(object.spec.size)"),
			func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Update, Subresource: "status", Object: clustertest.Widget(t, "v1", "spec: {size: 5}\nstatus: {phase: Ready}"), OldObject: clustertest.Widget(t, "v1", "spec: {size: 4}")}
			},
			"Ready 4",
		},
		"deletion": {
			clustertest.Report("example.com", "v1", "widgets", "string(oldObject.spec.size)"),
			func(t *testing.T) *cluster.Request {
				return &cluster.Request{Operation: admission.Delete, OldObject: clustertest.Widget(t, "v1", "spec: {size: 4}")}
			},
			"4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			response := clustertest.Admit(t, clustertest.New(t, clustertest.Backend, test.policy+"---\n"+clustertest.Widgets), test.request(t))
			if response.Allowed || len(response.Policies[0].Decisions) != 1 {
				t.Fatalf("status is %v, policies are %+v", response.Status, response.Policies)
			}
			if _, got, _ := strings.Cut(response.Status.Error(), "denied request: "); got != test.want {
				t.Errorf("message is %q, want %q", got, test.want)
			}
		})
	}
}

func TestCustomResourcesAreValidated(t *testing.T) {
	c := clustertest.New(t, clustertest.Backend, clustertest.Widgets)
	response := clustertest.Admit(t, c, &cluster.Request{Operation: admission.Create, Object: clustertest.Widget(t, "v1", "spec: {size: 101}")})
	if response.Allowed || !strings.Contains(response.Status.Error(), "spec.size: Invalid value: 101") {
		t.Errorf("size 101: allowed %v, status %v", response.Allowed, response.Status)
	}
	if _, err := c.Admit(t.Context(), &cluster.Request{Operation: admission.Create, Object: clustertest.Widget(t, "v1", "spec: {sise: 1}")}); err == nil || !strings.Contains(err.Error(), `unknown field "spec.sise"`) {
		t.Errorf("unknown field: error is %v", err)
	}
}

// Params are in the version of the paramKind, with defaults.
func TestCustomParams(t *testing.T) {
	policy := strings.Replace(clustertest.Replicas, "spec:\n  match", "spec:\n  paramKind: {apiVersion: example.com/v2, kind: Widget}\n  match", 1)
	policy = strings.Replace(policy, "expression: object.spec.replicas <= 5", "expression: object.spec.replicas <= params.spec.size", 1)
	policy = strings.Replace(policy, "'at most 5 replicas, not '", "params.apiVersion + ' has at most ' + string(params.spec.size) + ', not '", 1)
	policy = strings.Replace(policy, "  validationActions", "  paramRef: {name: w, parameterNotFoundAction: Allow}\n  validationActions", 1)
	param := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {}\n"
	request := &cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(t, "9")}

	response := clustertest.Admit(t, clustertest.New(t, clustertest.Backend, param+"---\n"+policy+"---\n"+clustertest.Widgets), request)
	if response.Allowed || !strings.HasSuffix(response.Status.Error(), "denied request: example.com/v2 has at most 3, not 9") {
		t.Errorf("allowed %v, status is %v", response.Allowed, response.Status)
	}
	response = clustertest.Admit(t, clustertest.New(t, clustertest.Backend, policy+"---\n"+clustertest.Widgets), request)
	if got := response.Policies[0]; got.Effect != cluster.NotMatched || got.Reason != "paramRef of the binding selects no object" {
		t.Errorf("without the param, the policy is %+v", got)
	}
}

func TestApplyConfigurationOfCustomResource(t *testing.T) {
	policy := strings.NewReplacer("[apps]", "[example.com]", "[deployments]", "[widgets]").Replace(
		clustertest.Mutating("a", "Never", clustertest.Apply("Object{spec: Object.spec{parts: [Object.spec.parts{name: 'b', count: 2}]}}")))
	response := clustertest.Admit(t, clustertest.New(t, clustertest.Backend, policy+"---\n"+clustertest.Widgets), &cluster.Request{
		Operation: admission.Create, Object: clustertest.Widget(t, "v1", "spec: {parts: [{name: a, count: 1}, {name: b, count: 1}]}"),
	})
	if !response.Allowed {
		t.Fatal(response.Status)
	}
	parts, _, _ := unstructured.NestedSlice(response.Object.Object, "spec", "parts")
	if len(parts) != 2 || parts[1].(map[string]any)["count"] != int64(2) {
		t.Errorf("parts are %v", parts)
	}
}
