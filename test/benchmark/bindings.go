// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "celador.io/celador/test/benchmark/input"

// many is the number of bindings or params in S4, S5 and S6.
const many = 1024

// manyBound returns one policy with many bindings that match the request.
func manyBound() setup {
	in := setup{denied: input.Deployment(input.Excessive)}
	policy := input.Policy(0, "deployments")
	in.Add(policy)
	for i := range many {
		in.Bindings = append(in.Bindings, input.MatchingBinding(policy, i))
	}
	return in
}

// manyBindings runs S4. A plugin can share results that do not depend on the binding.
func manyBindings(s *session) error {
	return s.addComparison("S4", "1 policy, 1,024 bindings, all match", manyBound(), 400)
}
