// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "celador.io/celador/test/benchmark/input"

// manyConfigured returns one policy with one binding that selects many params. One of the three
// validations reads the param.
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

// manyParams runs S5. A plugin can share results that do not depend on the param.
func manyParams(s *session) error {
	return s.addComparison("S5", "1 policy, 1,024 params", manyConfigured(), 40)
}
