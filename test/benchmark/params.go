// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "celador.io/celador/test/benchmark/input"

// manyConfigured returns one policy with one binding that selects many params, which
// one of the three validations reads.
func manyConfigured() situation {
	in := situation{denied: input.Deployment(input.Excessive)}
	policy := input.Policy(0, "deployments")
	binding := input.Matching(policy, 0)
	input.Parameterize(policy, binding)
	in.Add(policy, binding)
	for i := range many {
		in.Params = append(in.Params, input.Limit(i))
	}
	return in
}

// manyParams is S5: what does not depend on the param need not be evaluated again.
func manyParams(s *session) error {
	return s.addComparison("S5", "1 policy, 1,024 params", manyConfigured(), 10)
}
