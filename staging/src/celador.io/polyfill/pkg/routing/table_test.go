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

// pathOf returns the path of a route while it serves the policies.
func pathOf(route string, policies ...string) string {
	return routing.Route{Kind: routing.Validating, Name: route}.Path(policies...)
}

// API servers may call a path for a while after it has left the configuration, and mean the
// policies that it had.
func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := routing.NewTable()
		oldPath, currentPath := pathOf("old", "a", "b"), pathOf("current", "b")
		for i, step := range []struct {
			name    string
			do      func()
			old     string // the policies at the old path, or "" if it is unknown
			current string
			kept    bool // the selection at the old path is the same as before
		}{
			{"registered", func() { table.Set(routing.Members{oldPath: {"b", "a"}}) }, "ab", "", false},
			{"registered again", func() { table.Set(routing.Members{oldPath: {"b", "a"}}) }, "ab", "", true},
			{"b moves", func() { table.Set(routing.Members{currentPath: {"b"}}) }, "ab", "b", false},
			{"another configuration", func() {
				time.Sleep(routing.Retention / 2)
				table.Set(routing.Members{currentPath: {"b"}, pathOf("other", "c"): {"c"}})
			}, "ab", "b", true},
			{"none", func() { table.Set(nil) }, "ab", "b", true},
			{"b moves back", func() { table.Set(routing.Members{oldPath: {"b", "a"}}) }, "ab", "b", true},
			{"long after", func() { time.Sleep(2 * routing.Retention) }, "ab", "", true},
			{"b moves again", func() { table.Set(routing.Members{currentPath: {"b"}}) }, "ab", "b", false},
			{"no configuration for long", func() { time.Sleep(routing.Retention + time.Second) }, "", "b", false},
			{"edited by hand", func() { table.Set(routing.Members{currentPath: {"c"}, oldPath: nil}) }, "", "b", false},
		} {
			before, _ := table.Selection(t.Context(), oldPath)
			step.do()
			for path, want := range map[string]string{oldPath: step.old, currentPath: step.current} {
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
			if after, _ := table.Selection(t.Context(), oldPath); (before == after && after != nil) != step.kept {
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
				time.AfterFunc(10*time.Millisecond, func() { table.Set(routing.Members{pathOf("other", "a"): {"a"}}) })
				time.AfterFunc(test.registered, func() { table.Set(routing.Members{pathOf("path", "a"): {"a"}}) })
				ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
				defer cancel()
				begin := time.Now()
				s, err := table.Selection(ctx, pathOf("path", "a"))
				if took := time.Since(begin); (err == nil) != test.found || took != test.want {
					t.Errorf("after %v: %v, %v", took, s, err)
				}
				if err == nil && (!s.Has("a") || s.Has("b")) {
					t.Error("other policies are selected")
				}
				time.Sleep(2 * routing.Retention) // for the functions of the bubble
			})
		})
	}
}

func TestTableConcurrently(t *testing.T) {
	table, constant := routing.NewTable(), pathOf("constant", "a")
	table.Set(routing.Members{constant: {"a"}})
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for n := range 100 {
				path := pathOf(fmt.Sprint(i, "-", n), "b")
				table.Set(routing.Members{constant: {"a"}, path: {"b"}})
				for p, want := range map[string]string{constant: "a", path: "b"} {
					if s, err := table.Selection(t.Context(), p); err != nil || !s.Has(want) {
						t.Errorf("%s: %v", p, err)
					}
				}
			}
		})
	}
	wait.Wait()
}
