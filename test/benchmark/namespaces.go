// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"celador.io/celador/test/benchmark/input"
)

// manySelecting returns one policy with bindings for many namespaces, one of which is the namespace
// of the request.
func manySelecting() setup {
	in := setup{denied: input.Deployment(input.Excessive)}
	policy := input.Policy(0, "deployments")
	in.Add(policy)
	for i := range many {
		namespace := fmt.Sprintf("tenant-%d", i)
		if i == many/2 {
			namespace = input.NamespaceName
		}
		in.Bindings = append(in.Bindings, input.Binding(policy, i, corev1.LabelMetadataName, namespace))
	}
	return in
}

// manyNamespaces runs S6. A plugin need not evaluate bindings for other namespaces.
func manyNamespaces(s *session) error {
	return s.addComparison("S6", "1 policy, 1,024 bindings, one matches", manySelecting(), 400)
}
