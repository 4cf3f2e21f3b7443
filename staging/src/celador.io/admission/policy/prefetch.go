// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import "celador.io/admission/matching"

// prefetched is the number of policies that are prefetched together. They are few enough to be
// still in the processor's first cache when they are evaluated.
const prefetched = 16

// prefetch brings candidates into the processor's caches, where the policies of a server mostly are
// not. An evaluation waits for one part of a policy after the other, because each part holds the
// address of the next. Here the parts of one policy do not depend on those of another, so the
// processor waits for several policies at the same time. That saves a tenth to a fifth of what 100
// policies add to a request of a server.
func (s *Snapshot[Body]) prefetch(candidates []matching.Candidate) {
	for _, c := range candidates {
		p := s.policies[c.Position]
		p.evaluations[Admitted].Load()
		compiled := p.expressions.compiled.Load()
		if compiled == nil {
			continue
		}
		for _, program := range compiled.programs {
			program.Prefetch()
		}
	}
}
