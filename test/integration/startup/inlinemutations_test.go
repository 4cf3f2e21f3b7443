// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// inline are mutations behind the alpha gate, each in its own policy. Requests name the case in
// label "case". Each case has the expected data or error with the gate enabled and disabled.
var inline = map[string]struct {
	mutation v1.Mutation
	on, off  string
}{
	"expression": {
		mutation: v1.Mutation{Expression: new(`JSONPatch{op: "add", path: "/data/new", value: "yes"}`)},
		on:       "new=yes,some=data",
		off:      `mutation has no expression for patchType "", or feature gate MutatingAdmissionPolicyInlineExpressions is off`,
	},
	"refusal": {
		mutation: v1.Mutation{Expression: new("false"), Message: new("not here"), Reason: new(metav1.StatusReasonForbidden)},
		on:       "policy 'refusal' with binding 'refusal' denied request: not here",
		off:      `mutation has no expression for patchType ""`,
	},
	"condition": {
		mutation: v1.Mutation{Condition: new("object.data.some != 'data'"), PatchType: v1.PatchTypeJSONPatch,
			JSONPatch: &v1.JSONPatch{Expression: `[JSONPatch{op: "add", path: "/data/new", value: "yes"}]`}},
		on:  "some=data",
		off: "new=yes,some=data",
	},
	"merge": {
		mutation: v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: `{"data": {"some": dyn(null), "new": dyn("yes")}}`}},
		on:       "new=yes",
		off:      `mutation has no expression for patchType "JSONMergePatch"`,
	},
	"endless": {
		mutation: v1.Mutation{ReinvocationPolicy: new(v1.IfNeededReinvocationPolicy), PatchType: v1.PatchTypeJSONPatch,
			JSONPatch: &v1.JSONPatch{Expression: `[JSONPatch{op: "add", path: "/data/some", value: object.data.some + "x"}]`}},
		on:  "policy 'endless' with binding 'endless' denied request: mutations never settle: after 10 more rounds the object is still changed by policy 'endless' with binding 'endless'",
		off: "some=datax",
	},
}

// Fields behind the gate stay in storage while it is disabled, but have no effect.
func TestInlineExpressions(t *testing.T) {
	const gate = "--feature-gates=MutatingAdmissionPolicyInlineExpressions=true"
	dir := t.TempDir()
	t.Run("on", func(t *testing.T) {
		server := testserver.Start(t, dir, gate)
		client := clientsOf(server)
		for name, test := range inline {
			client.mutate(t, name, v1.MutatingAdmissionPolicySpec{
				Mutations:       []v1.Mutation{test.mutation},
				MatchConditions: []v1.MatchCondition{{Name: "case", Expression: "object.metadata.?labels['case'].orValue('') == '" + name + "'"}},
			})
		}
		for name, test := range inline {
			client.expectMutated(t, name, test.on)
		}
		t.Run("example", func(t *testing.T) { testMutatingExample(t, server) })
	})
	t.Run("off", func(t *testing.T) {
		server := testserver.Start(t, dir)
		client := clientsOf(server)
		for name, test := range inline {
			client.expectMutated(t, name, test.off)
			stored, err := client.Policies.AdmissionregistrationV1().MutatingAdmissionPolicies().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.mutation, stored.Spec.Mutations[0]); diff != "" {
				t.Errorf("stored mutation of %s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// expectMutated checks the resulting data or the error of a request, once all earlier writes are
// in effect.
func (c clients) expectMutated(t *testing.T, name, want string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		got, err := c.configMap(ctx, map[string]string{"case": name})
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%s: got error %w, want %s", name, err, want)
			}
			return nil
		}
		var data []string
		for key, value := range got.Data {
			data = append(data, key+"="+value)
		}
		slices.Sort(data)
		if joined := strings.Join(data, ","); joined != want {
			return fmt.Errorf("%s: got %s, want %s", name, joined, want)
		}
		return nil
	})
}

// testMutatingExample applies the manifests of the gate's example twice.
func testMutatingExample(t *testing.T, server *testserver.Server) {
	apply := func(file string) (*appsv1.Deployment, error) {
		obj, client := example(t, server, filepath.Join("..", "..", "..", "examples", "mutating-inline-expressions", file))
		applied, err := client.Apply(t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test"})
		if err != nil || obj.GetKind() != "Deployment" {
			return nil, err
		}
		deployment := &appsv1.Deployment{}
		return deployment, runtime.DefaultUnstructuredConverter.FromUnstructured(applied.Object, deployment)
	}
	for _, file := range []string{"namespace.yaml", "policy.yaml", "binding.yaml"} {
		if _, err := apply(file); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	testserver.Eventually(t, func(context.Context) error {
		_, err := apply("deployment-denied.yaml")
		const want = "policy 'team-labels.example.com' with binding 'team-labels-test.example.com' denied request: the label team is that of the namespace"
		if !apierrors.IsForbidden(err) || !strings.HasSuffix(err.Error(), want) {
			return fmt.Errorf("got error %w, want %s", err, want)
		}
		return nil
	})
	testserver.Eventually(t, func(ctx context.Context) error {
		policy, err := clientsOf(server).Policies.AdmissionregistrationV1().MutatingAdmissionPolicies().Get(ctx, "team-labels.example.com", metav1.GetOptions{})
		if err == nil && !meta.IsStatusConditionTrue(policy.Status.Conditions, v1.PolicyConditionTypeChecked) {
			err = fmt.Errorf("its expressions do not fit: %+v", policy.Status)
		}
		return err
	})
	var first *appsv1.Deployment
	for range 2 {
		got, err := apply("deployment.yaml")
		if err != nil {
			t.Fatal(err)
		}
		pod := got.Spec.Template.Spec
		if got.Labels["team"] != "blue" || pod.HostNetwork || pod.Containers[0].ImagePullPolicy != "Always" {
			t.Errorf("got labels %v, host network %t, containers %v", got.Labels, pod.HostNetwork, pod.Containers)
		}
		if first != nil && first.ResourceVersion != got.ResourceVersion {
			t.Errorf("applied again, the Deployment changes (-before +after):\n%s", cmp.Diff(first, got))
		}
		first = got
	}
}
