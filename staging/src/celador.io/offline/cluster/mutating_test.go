// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"
)

func TestMutatingPolicies(t *testing.T) {
	for name, test := range map[string]struct {
		policies string
		want     map[string]string // labels of the object afterwards
		outcomes map[string]cluster.Effect
	}{
		"apply configuration": {
			clustertest.Mutating("a", "Never", clustertest.Apply("Object{metadata: Object.metadata{labels: Object.metadata.labels{team: 'x'}}}")),
			map[string]string{"team": "x"}, map[string]cluster.Effect{"a": cluster.Mutated},
		},
		"list that is merged by key": {
			clustertest.Mutating("a", "Never", clustertest.Apply("Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'web', image: 'nginx:1'}]}}}}")),
			nil, map[string]cluster.Effect{"a": cluster.Mutated},
		},
		"no change": {
			clustertest.Mutating("a", "Never", clustertest.Apply("Object{}")), nil, map[string]cluster.Effect{"a": cluster.Admitted},
		},
		"second policy sees the first, which is invoked again": {
			clustertest.Mutating("a", "IfNeeded", clustertest.Apply("Object{metadata: Object.metadata{labels: Object.metadata.labels{count: has(object.metadata.labels) && 'b' in object.metadata.labels ? '2' : '1'}}}")) + "---\n" +
				clustertest.Mutating("b", "Never", clustertest.Apply("Object{metadata: Object.metadata{labels: Object.metadata.labels{b: 'b'}}}")),
			map[string]string{"b": "b", "count": "2"}, map[string]cluster.Effect{"a": cluster.Mutated, "b": cluster.Mutated},
		},
		"failure": {
			clustertest.Mutating("a", "Never", clustertest.JSONPatch("[JSONPatch{op: 'remove', path: '/spec/nothing'}]")) + "---\n" +
				clustertest.Mutating("b", "Never", clustertest.Apply("Object{}")) + "---\n" + clustertest.Replicas,
			nil, map[string]cluster.Effect{"a": cluster.Failed, "b": cluster.Admitted, "replicas.example.com": cluster.NotReached},
		},
		"mutation that a validating policy denies": {
			clustertest.Mutating("a", "Never", clustertest.JSONPatch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: 9}]")) + "---\n" + clustertest.Replicas,
			nil, map[string]cluster.Effect{"a": cluster.Mutated, "replicas.example.com": cluster.Denied},
		},
		"mutation that the API rejects": {
			clustertest.Mutating("a", "Never", clustertest.JSONPatch("[JSONPatch{op: 'replace', path: '/spec/replicas', value: -1}]")) + "---\n" + clustertest.Replicas,
			nil, map[string]cluster.Effect{"a": cluster.Mutated, "replicas.example.com": cluster.NotReached},
		},
	} {
		t.Run(name, func(t *testing.T) {
			response := clustertest.Admit(t, clustertest.New(t, clustertest.Backend, test.policies), &cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(t, "3")})
			outcomes := map[string]cluster.Effect{}
			for _, p := range response.Policies {
				outcomes[p.Policy] = p.Effect
			}
			if diff := cmp.Diff(test.outcomes, outcomes); diff != "" {
				t.Errorf("outcomes differ (-want +got):\n%s\nstatus is %v", diff, response.Status)
			}
			if test.want == nil {
				return
			}
			labels, _, _ := unstructured.NestedStringMap(response.Object.Object, "metadata", "labels")
			if diff := cmp.Diff(test.want, labels); diff != "" {
				t.Errorf("labels differ (-want +got):\n%s", diff)
			}
		})
	}
}
