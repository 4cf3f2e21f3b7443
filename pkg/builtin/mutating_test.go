// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtin_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
)

// mutating returns a policy with a mutation of Deployments, and its binding.
func mutating(name, reinvocation, mutation string) string {
	return `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata:
  name: ` + name + `
spec:
  reinvocationPolicy: ` + reinvocation + `
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments]
  mutations:
  - ` + mutation + `
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: ` + name + `
spec:
  policyName: ` + name + "\n"
}

func apply(expression string) string {
	return "{patchType: ApplyConfiguration, applyConfiguration: {expression: \"" + expression + "\"}}"
}

func patch(expression string) string {
	return "{patchType: JSONPatch, jsonPatch: {expression: \"" + expression + "\"}}"
}

func TestMutatingPolicies(t *testing.T) {
	for name, test := range map[string]struct {
		policies string
		want     map[string]string // labels of the object afterwards
		outcomes map[string]cluster.Outcome
	}{
		"apply configuration": {
			mutating("a", "Never", apply("Object{metadata: Object.metadata{labels: Object.metadata.labels{team: 'x'}}}")),
			map[string]string{"team": "x"}, map[string]cluster.Outcome{"a": cluster.Mutated},
		},
		"list that is merged by key": {
			mutating("a", "Never", apply("Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'web', image: 'nginx:1'}]}}}}")),
			nil, map[string]cluster.Outcome{"a": cluster.Mutated},
		},
		"no change": {
			mutating("a", "Never", apply("Object{}")), nil, map[string]cluster.Outcome{"a": cluster.Admitted},
		},
		"second policy sees the first, which is invoked again": {
			mutating("a", "IfNeeded", apply("Object{metadata: Object.metadata{labels: Object.metadata.labels{count: has(object.metadata.labels) && 'b' in object.metadata.labels ? '2' : '1'}}}")) + "---\n" +
				mutating("b", "Never", apply("Object{metadata: Object.metadata{labels: Object.metadata.labels{b: 'b'}}}")),
			map[string]string{"b": "b", "count": "2"}, map[string]cluster.Outcome{"a": cluster.Mutated, "b": cluster.Mutated},
		},
		"failure": {
			mutating("a", "Never", patch("[JSONPatch{op: 'remove', path: '/spec/nothing'}]")) + "---\n" +
				mutating("b", "Never", apply("Object{}")) + "---\n" + replicas,
			nil, map[string]cluster.Outcome{"a": cluster.Failed, "b": cluster.Admitted, "replicas.example.com": cluster.NotReached},
		},
		"mutation that a validating policy denies": {
			mutating("a", "Never", patch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 9}]")) + "---\n" + replicas,
			nil, map[string]cluster.Outcome{"a": cluster.Mutated, "replicas.example.com": cluster.Denied},
		},
		"mutation that the API rejects": {
			mutating("a", "Never", patch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: -1}]")) + "---\n" + replicas,
			nil, map[string]cluster.Outcome{"a": cluster.Mutated, "replicas.example.com": cluster.NotReached},
		},
	} {
		t.Run(name, func(t *testing.T) {
			review := admit(t, newCluster(t, test.policies), &cluster.Request{Operation: admission.Create, Object: deploymentOf(t, "3")})
			outcomes := map[string]cluster.Outcome{}
			for _, p := range review.Policies {
				outcomes[p.Policy] = p.Outcome
			}
			if diff := cmp.Diff(test.outcomes, outcomes); diff != "" {
				t.Errorf("outcomes differ (-want +got):\n%s\nstatus is %v", diff, review.Status)
			}
			if test.want == nil {
				return
			}
			labels, _, _ := unstructured.NestedStringMap(review.Object.Object, "metadata", "labels")
			if diff := cmp.Diff(test.want, labels); diff != "" {
				t.Errorf("labels differ (-want +got):\n%s", diff)
			}
		})
	}
}
