// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"sync"
	"sync/atomic"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/matchconditions"
)

// CompiledSpec holds the compiled expressions of a policy. Body holds the part that differs between
// kinds. Immutable.
//
// Expressions that do not compile stay in the policy with their errors, and requests that evaluate
// them fail.
type CompiledSpec[Body any] struct {
	Conditions matchconditions.Conditions
	Variables  []expression.Variable
	// Body is the zero value if the policy fails every request.
	Body Body

	// errors holds the errors of the expressions that do not compile, with their field paths.
	errors []error
	// programs are the programs of all expressions except messages and the indexes of lookups. A
	// request that violates nothing evaluates no others, so Snapshot.prefetch brings these into the
	// processor's caches.
	programs []*expression.Program
}

// lazy compiles the expressions of a policy on first use. Compiling takes a millisecond for a
// policy with few expressions, so a server that starts with thousands of policies must not wait for
// it. Safe for concurrent use.
type lazy[Body any] struct {
	compiled atomic.Pointer[CompiledSpec[Body]]
	// evaluated is set when a request first evaluates the policy.
	evaluated atomic.Bool
	lock      sync.Mutex
	// compile is nil for a policy that fails every request, which has nothing to compile, and once
	// it has returned.
	compile func() *CompiledSpec[Body]
}

// get returns the compiled expressions. It takes no lock once they are compiled.
func (l *lazy[Body]) get() *CompiledSpec[Body] {
	if compiled := l.compiled.Load(); compiled != nil {
		return compiled
	}
	// Unlike sync.Once, the lock lets the next request compile again after a panic.
	l.lock.Lock()
	defer l.lock.Unlock()
	if compiled := l.compiled.Load(); compiled != nil {
		return compiled
	}
	compiled := &CompiledSpec[Body]{}
	if l.compile != nil {
		compiled = l.compile()
	}
	l.compile = nil
	l.compiled.Store(compiled)
	return compiled
}
