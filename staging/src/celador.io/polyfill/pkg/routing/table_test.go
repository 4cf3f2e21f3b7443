// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"celador.io/polyfill/pkg/routing"
)

// API servers may call a path for a while after it has left the configuration, and mean the
// policies that it had.
func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := routing.NewTable()
		for i, step := range []struct {
			name    string
			do      func()
			old     string // the policies at the path /old, or "" if it is unknown
			current string
			kept    bool // the selection at /old is the same as before
		}{
			{"registered", func() { table.Set(routing.Members{"/old": {"a", "b"}}) }, "ab", "", false},
			{"registered again", func() { table.Set(routing.Members{"/old": {"a", "b"}}) }, "ab", "", true},
			{"b moves", func() { table.Set(routing.Members{"/current": {"b"}}) }, "ab", "b", true},
			{"another configuration", func() {
				time.Sleep(routing.Retention / 2)
				table.Set(routing.Members{"/current": {"b"}, "/other": {"c"}})
			}, "ab", "b", true},
			{"none", func() { table.Set(nil) }, "ab", "b", true},
			{"b moves back", func() { table.Set(routing.Members{"/old": {"a", "b"}}) }, "ab", "b", true},
			{"long after", func() { time.Sleep(2 * routing.Retention) }, "ab", "b", true},
			{"b moves again", func() { table.Set(routing.Members{"/current": {"b"}}) }, "ab", "b", true},
			{"a configuration long after", func() { time.Sleep(routing.Retention); table.Set(routing.Members{"/current": {"b"}}) }, "", "b", false},
			{"edited by hand", func() { table.Set(routing.Members{"/current": {"c"}}) }, "", "c", false},
		} {
			before, _ := table.Selection(t.Context(), "/old")
			step.do()
			for path, want := range map[string]string{"/old": step.old, "/current": step.current} {
				got := ""
				if s, err := table.Selection(t.Context(), path); err == nil {
					for _, name := range []string{"a", "b", "c"} {
						if s.Has(name) {
							got += name
						}
					}
				}
				if got != want {
					t.Errorf("%d %s: the policies at %s are %q, want %q", i, step.name, path, got, want)
				}
			}
			if after, _ := table.Selection(t.Context(), "/old"); (before == after && after != nil) != step.kept {
				t.Errorf("%d %s: the same selection: %t, want %t", i, step.name, before == after, step.kept)
			}
		}
	})
}

// A request waits for the configuration that the API server has seen already.
func TestUnknownPath(t *testing.T) {
	for name, test := range map[string]struct {
		registered time.Duration // when the path is
		timeout    time.Duration
		want       time.Duration // when the answer is
		found      bool
	}{
		"soon":            {100 * time.Millisecond, time.Minute, 100 * time.Millisecond, true},
		"late":            {2 * time.Second, time.Minute, time.Second, false},
		"after a timeout": {200 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := routing.NewTable()
				time.AfterFunc(10*time.Millisecond, func() { table.Set(routing.Members{"/other": {"a"}}) })
				time.AfterFunc(test.registered, func() { table.Set(routing.Members{"/path": {"a"}}) })
				ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
				defer cancel()
				begin := time.Now()
				s, err := table.Selection(ctx, "/path")
				if took := time.Since(begin); (err == nil) != test.found || took != test.want {
					t.Errorf("after %v: %v, %v", took, s, err)
				}
				if err == nil && (!s.Has("a") || s.Has("b")) {
					t.Error("other policies are selected")
				}
				time.Sleep(time.Minute) // for the functions of the bubble
			})
		})
	}
}

func TestTableConcurrently(t *testing.T) {
	table := routing.NewTable()
	table.Set(routing.Members{"/constant": {"a"}})
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for n := range 100 {
				path := fmt.Sprint("/", i, "/", n)
				table.Set(routing.Members{"/constant": {"a"}, path: {"b"}})
				for p, want := range map[string]string{"/constant": "a", path: "b"} {
					if s, err := table.Selection(t.Context(), p); err != nil || !s.Has(want) {
						t.Errorf("%s: %v", p, err)
					}
				}
			}
		})
	}
	wait.Wait()
}
