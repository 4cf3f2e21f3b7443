// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"celador.io/admission/policy"
)

const (
	// Retention is the minimum time for which a path stays known after it has left the webhook
	// configuration: API servers call it until they have seen the new configuration.
	Retention = time.Minute
	// maxWait is how long a request waits for the configuration that its path is from.
	maxWait = time.Second
)

// Members holds the names of the policies of each path of a webhook configuration, sorted. Each
// policy is at one path, so that API servers ask it once, whichever configuration they have seen.
type Members map[string][]string

// String returns the members in JSON.
func (m Members) String() string { return string(encode(m)) }

// A Table holds the policies of the paths in the webhook configurations of one kind that this
// replica has seen. Because the members of a path never change, the API server that calls the path
// and the replica mean the same policies, even if one of them lags behind. Safe for concurrent use.
type Table struct {
	// current is read by requests without a lock.
	current atomic.Pointer[state]
	lock    sync.Mutex
}

type state struct {
	paths map[string]selected
	// replaced is closed when the table has others.
	replaced chan struct{}
}

type selected struct {
	members   []string
	selection *policy.Selection
	// left is when a configuration without the path was seen, or zero.
	left time.Time
}

// NewTable returns a table without paths.
func NewTable() *Table {
	t := &Table{}
	t.current.Store(&state{replaced: make(chan struct{})})
	return t
}

// Set adds the paths of the latest webhook configuration. Paths that the configuration lacks are
// forgotten after Retention. A path contains a hash of its policies. If the configuration lists
// other policies for it, because somebody has edited the configuration, Set ignores the entry.
func (t *Table) Set(latest Members) {
	t.lock.Lock()
	defer t.lock.Unlock()
	before, now := t.current.Load(), time.Now()
	after := &state{map[string]selected{}, make(chan struct{})}
	for path, members := range latest {
		p := before.paths[path] // with its selection, which caches what it has selected
		if p.selection == nil || !slices.Equal(p.members, members) {
			if !standsFor(path, members) {
				continue
			}
			p = selected{members: members, selection: policy.NewSelection(members...)}
		}
		p.left = time.Time{}
		after.paths[path] = p
	}
	leaving := false
	for path, p := range before.paths {
		if _, ok := after.paths[path]; ok {
			continue
		}
		if p.left.IsZero() {
			leaving = true
			// The cache of the selection refers to all policies of a moment.
			p.left, p.selection = now, policy.NewSelection(p.members...)
		}
		if now.Sub(p.left) < Retention {
			after.paths[path] = p
		}
	}
	if leaving {
		time.AfterFunc(Retention, t.forget)
	}
	t.replace(before, after)
}

// forget removes the paths that left at least Retention ago.
func (t *Table) forget() {
	t.lock.Lock()
	defer t.lock.Unlock()
	before, now := t.current.Load(), time.Now()
	after := &state{maps.Clone(before.paths), make(chan struct{})}
	maps.DeleteFunc(after.paths, func(_ string, p selected) bool { return !p.left.IsZero() && now.Sub(p.left) >= Retention })
	t.replace(before, after)
}

func (t *Table) replace(before, after *state) {
	t.current.Store(after)
	close(before.replaced)
}

// Selection returns the policies that decide about the requests at a URL path. It returns the same
// pointer until they change. For a path that the table does not know, it waits for the next
// configurations, up to a second, and then returns an error: the API server has seen a
// configuration that this replica has not, and does not learn what its policies decide.
func (t *Table) Selection(ctx context.Context, path string) (*policy.Selection, error) {
	current := t.current.Load()
	if p, ok := current.paths[path]; ok {
		return p.selection, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		select {
		case <-current.replaced:
		case <-ctx.Done():
			return nil, fmt.Errorf("no webhook configuration that this replica has seen has the path %s", path)
		}
		current = t.current.Load()
		if p, ok := current.paths[path]; ok {
			return p.selection, nil
		}
	}
}
