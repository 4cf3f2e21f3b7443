// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"celador.io/celador/test/benchmark/input"
)

// many is the number of bindings or params in the scenarios S4, S5 and S6.
const many = 1024

// manyBound returns a setup of one policy with many bindings, all of which match the request.
func manyBound() setup {
	in := setup{denied: input.Deployment(input.Excessive)}
	policy := input.Policy(0, "deployments")
	in.Add(policy)
	for i := range many {
		in.Bindings = append(in.Bindings, input.MatchingBinding(policy, i))
	}
	return in
}

// manyBindings runs scenario S4: the cost of a policy with many bindings that match. The result of
// a validation does not depend on the binding, so a plugin needs to evaluate it once.
func manyBindings(s *session) error {
	return s.addComparison("S4", "1 policy, 1,024 bindings, all match", manyBound(), 400)
}

// manyConfigured returns a setup of one policy, whose only binding selects many params. One of its
// three validations reads the param.
func manyConfigured() setup {
	in := setup{denied: input.Deployment(input.Excessive)}
	policy := input.Policy(0, "deployments")
	binding := input.MatchingBinding(policy, 0)
	input.Parameterize(policy, binding)
	in.Add(policy, binding)
	for i := range many {
		in.Params = append(in.Params, input.Limit(i))
	}
	return in
}

// manyParams runs scenario S5: the cost of a policy with many params. Two of its three validations
// do not read the param, so a plugin needs to evaluate them once.
func manyParams(s *session) error {
	return s.addComparison("S5", "1 policy, 1,024 params", manyConfigured(), 40)
}

// manySelecting returns a setup of one policy with bindings for many namespaces, one of which is
// the namespace of the request.
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

// manyNamespaces runs scenario S6: the cost of a policy with many bindings, one of which matches. A
// plugin can find this one without looking at the others.
func manyNamespaces(s *session) error {
	return s.addComparison("S6", "1 policy, 1,024 bindings, one matches", manySelecting(), 400)
}
