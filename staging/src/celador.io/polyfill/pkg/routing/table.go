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

	// behind is set while the webhooks of validating policies that are registered are not those of
	// the table.
	behind atomic.Bool

	lock sync.Mutex
	// digests are those of routes, and registered those of the registered webhooks, or empty if none
	// is known.
	digests    map[Kind]*digest
	registered map[Kind]string
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
	t := &Table{clock: c, digests: map[Kind]*digest{Validating: {}, Mutating: {}}, registered: map[Kind]string{}, names: map[Route]sets.Set[string]{}, routes: map[policyID]Route{}, left: map[membership]time.Time{}}
	t.selections.Store(&map[Route]*policy.Selection{})
	return t
}

// Selection returns the policies that decide about the requests of a route: its policies, and those
// that left it less than Grace ago. It returns the same pointer until they change, and nil, which
// stands for all policies, for a route that the replica does not know yet or no longer, and while
// the registered webhooks of validating policies differ from the table: to decide twice is harmless,
// and not to decide is not. It takes no lock.
func (t *Table) Selection(r Route) *policy.Selection {
	if r.Kind == Validating && t.behind.Load() {
		return nil
	}
	return (*t.selections.Load())[r]
}

// SetRegistered sets the digest of the objects from which the registered webhooks of a kind were
// made. An empty digest is that of the table. A policy that has left a route decides there until
// Grace has passed and the digests are equal: without a leader, API servers call by the old webhooks.
func (t *Table) SetRegistered(kind Kind, digest string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.registered[kind] = digest
	t.compare()
	for m, until := range t.left {
		if m.route.Kind == kind && t.settled(kind) && !until.After(t.clock.Now()) {
			t.end(m)
		}
	}
}

// compare sets behind.
func (t *Table) compare() { t.behind.Store(!t.settled(Validating)) }

// settled reports whether the registered webhooks of a kind are those of the table.
func (t *Table) settled(kind Kind) bool {
	registered := t.registered[kind]
	return registered == "" || registered == t.digests[kind].String()
}

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
	t.compare()
}

func (t *Table) set(p policyID, r Route) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.routes[p] == r {
		return
	}
	t.leave(p)
	t.routes[p] = r
	t.digests[p.kind].toggle(p.name, r)
	delete(t.left, membership{r, p.name})
	t.publish(membership{r, p.name}, true)
	t.compare()
}

// leave lets a policy end to decide on its route after Grace, unless it has come back by then.
func (t *Table) leave(p policyID) {
	if r, ok := t.routes[p]; ok {
		t.digests[p.kind].toggle(p.name, r)
		t.end(membership{r, p.name})
	}
}

// end ends a membership after Grace. While the registered webhooks are old, it waits for
// SetRegistered.
func (t *Table) end(m membership) {
	until := t.clock.Now().Add(Grace)
	t.left[m] = until
	t.clock.AfterFunc(Grace, func() {
		t.lock.Lock()
		defer t.lock.Unlock()
		if t.left[m] == until && t.settled(m.route.Kind) {
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
