// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"celador.io/celador/test/benchmark/input"
)

// The numbers of policies, and of bindings of each, in the scenarios S8 and S17: 10,000 bindings in
// total.
const (
	crowdPolicies = 100
	crowdBindings = 100
)

// crowd returns policies for a resource, and for each policy one binding for each of many
// namespaces. first is the name of the first of these namespaces. Deployments of the benchmark
// satisfy the policies.
func crowd(first, resource string) input.Cluster {
	var cluster input.Cluster
	for i := range crowdPolicies {
		policy := input.Policy(i, resource)
		cluster.Add(policy, input.Binding(policy, 0, corev1.LabelMetadataName, first))
		for j := 1; j < crowdBindings; j++ {
			cluster.Bindings = append(cluster.Bindings, input.Binding(policy, j, corev1.LabelMetadataName, fmt.Sprintf("tenant-%d", j)))
		}
	}
	return cluster
}
