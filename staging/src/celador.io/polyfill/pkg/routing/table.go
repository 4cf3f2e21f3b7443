// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	"celador.io/admission/policy"
	v1 "celador.io/api/admissionregistration/v1"
)

// Grace is how long a policy decides about the requests of a route that it has left. API servers
// call by the webhook configurations that they have seen last.
const Grace = 30 * time.Second

// A Table holds the selection of each route. Safe for concurrent use.
type Table struct {
	clock clock.WithDelayedExecution
	// selections is read by requests without a lock.
	selections atomic.Pointer[map[Route]*policy.Selection]

	lock sync.Mutex
	// names holds the names of selections.
	names map[Route]sets.Set[string]
	// routes holds the route of each policy.
	routes map[policyID]Route
	// left holds when policies that have left a route cease to decide there.
	left map[membership]time.Time
}

type policyID struct {
	kind Kind
	name string
}

type membership struct {
	route  Route
	policy string
}

// NewTable returns a table without policies.
func NewTable(c clock.WithDelayedExecution) *Table {
	t := &Table{clock: c, names: map[Route]sets.Set[string]{}, routes: map[policyID]Route{}, left: map[membership]time.Time{}}
	t.selections.Store(&map[Route]*policy.Selection{})
	return t
}

// Selection returns the policies that decide about the requests of a route: its policies, and those
// that left it less than Grace ago. It returns the same pointer until they change, and nil, which
// stands for all policies, for a route that the replica does not know yet or no longer: to decide
// twice is harmless, and not to decide is not. It takes no lock.
func (t *Table) Selection(r Route) *policy.Selection { return (*t.selections.Load())[r] }

// SetValidating adds a policy, or replaces the one of the same name. It does not keep the policy.
func (t *Table) SetValidating(p *v1.ValidatingAdmissionPolicy) {
	t.set(policyID{Validating, p.Name}, ValidatingRoute(p))
}

// SetMutating adds a policy, or replaces the one of the same name. It does not keep the policy.
func (t *Table) SetMutating(p *v1.MutatingAdmissionPolicy) {
	t.set(policyID{Mutating, p.Name}, MutatingRoute(p))
}

// Delete removes a policy, if there is one of the name. A policy that is created anew decides about
// requests of the old route, too, until Grace has passed since the deletion.
func (t *Table) Delete(kind Kind, name string) {
	p := policyID{kind, name}
	t.lock.Lock()
	defer t.lock.Unlock()
	t.leave(p)
	delete(t.routes, p)
}

func (t *Table) set(p policyID, r Route) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.routes[p] == r {
		return
	}
	t.leave(p)
	t.routes[p] = r
	delete(t.left, membership{r, p.name})
	t.publish(membership{r, p.name}, true)
}

// leave lets a policy end to decide on its route after Grace, unless it has come back by then.
func (t *Table) leave(p policyID) {
	r, ok := t.routes[p]
	if !ok {
		return
	}
	m, until := membership{r, p.name}, t.clock.Now().Add(Grace)
	t.left[m] = until
	t.clock.AfterFunc(Grace, func() {
		t.lock.Lock()
		defer t.lock.Unlock()
		if t.left[m] == until {
			delete(t.left, m)
			t.publish(m, false)
		}
	})
}

// publish adds a policy to the selection of its route, or removes it.
func (t *Table) publish(m membership, in bool) {
	names := t.names[m.route]
	if names.Has(m.policy) == in {
		return
	}
	if names == nil {
		names = sets.New[string]()
		t.names[m.route] = names
	}
	selections := maps.Clone(*t.selections.Load())
	if in {
		selections[m.route] = policy.NewSelection(names.Insert(m.policy).UnsortedList()...)
	} else if names.Delete(m.policy); names.Len() > 0 {
		selections[m.route] = policy.NewSelection(names.UnsortedList()...)
	} else {
		delete(t.names, m.route)
		delete(selections, m.route)
	}
	t.selections.Store(&selections)
}
