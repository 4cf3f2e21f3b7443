// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"celador.io/celador/test/benchmark/input"
)

// manySelecting returns one policy with a binding for each of many namespaces, one of
// which is the request's.
func manySelecting() situation {
	in := situation{denied: input.Deployment(input.Excessive)}
	policy := input.Policy(0, "deployments")
	in.Add(policy)
	for i := range many {
		namespace := fmt.Sprintf("tenant-%d", i)
		if i == many/2 {
			namespace = input.SpaceName
		}
		in.Bindings = append(in.Bindings, input.Binding(policy, i, corev1.LabelMetadataName, namespace))
	}
	return in
}

// manyNamespaces is S6: bindings for other namespaces need not be looked at.
func manyNamespaces(s *session) error {
	return s.addComparison("S6", "1 policy, 1,024 bindings, one matches", manySelecting(), 200)
}
