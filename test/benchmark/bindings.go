// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "celador.io/celador/test/benchmark/input"

// many is how many bindings or params the policy has in S4, S5 and S6.
const many = 1024

// manyBound returns one policy with many bindings, all for the request.
func manyBound() situation {
	in := situation{denied: input.Deployment(input.Excessive)}
	policy := input.Policy(0, "deployments")
	in.Add(policy)
	for i := range many {
		in.Bindings = append(in.Bindings, input.Matching(policy, i))
	}
	return in
}

// manyBindings is S4: what does not depend on the binding need not be evaluated again.
func manyBindings(s *session) error {
	return s.addComparison("S4", "1 policy, 1,024 bindings, all match", manyBound(), 100)
}
