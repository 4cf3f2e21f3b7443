// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"celador.io/celador/test/equivalence/harness"
)

var scenarios = flag.Int("scenarios", 2000, "number of generated scenarios")

const generatedDefinitions = 60

// TestGenerated compares generated requests for generated definitions.
func TestGenerated(t *testing.T) {
	p := apart(t)
	runGenerated(t, p, *scenarios, generatedDefinitions, false)
}

// TestOnePrefix lets both servers take turns on the same objects.
func TestOnePrefix(t *testing.T) {
	p := together(t)
	runGenerated(t, p, *scenarios/10, generatedDefinitions/6, false)
}

// runGenerated runs scenarios, in parallel for different definitions.
func runGenerated(t *testing.T, p *pair, count, generated int, cbor bool) {
	t.Helper()
	definitions := p.pool(t, *harness.Seed, generated)
	started := time.Now()
	var (
		lock     sync.Mutex
		group    sync.WaitGroup
		statuses = map[int]int{}
		requests int
		failures []string
	)
	workers := make(chan struct{}, 6)
	for i, d := range definitions {
		group.Go(func() {
			workers <- struct{}{}
			defer func() { <-workers }()
			for number := *harness.First; number < *harness.First+uint64(count); number++ {
				if int(number)%len(definitions) != i {
					continue
				}
				g := &generator{harness.NewGenerator(*harness.Seed+1, number)}
				s := g.scenario(d, int(number), cbor)
				c := p.run(t, d, s)
				lock.Lock()
				for _, a := range c.answers {
					statuses[a.Status]++
				}
				requests += len(c.answers)
				enough := len(failures) > 5
				lock.Unlock()
				if c.unexplained == nil || enough {
					continue
				}
				text := p.describe(t, d, s, number, c)
				lock.Lock()
				failures = append(failures, text)
				lock.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("%d scenarios over %d definitions in %s, %d requests: %v", count, len(definitions), time.Since(started).Round(time.Second), requests, statuses)
	for _, failure := range failures {
		t.Error(failure)
	}
}

// describe shrinks a scenario in which the sides differ, and describes it.
func (p *pair) describe(t testing.TB, d definition, s scenario, number uint64, c *comparison) string {
	smaller, _ := harness.Shrink(s, map[string]int{}, func(s scenario, _ map[string]int) bool {
		return p.run(t, d, s).unexplained != nil
	})
	again := p.run(t, d, smaller)
	if again.unexplained == nil {
		// It differs only sometimes.
		smaller, again = s, c
	}
	var b strings.Builder
	fmt.Fprintf(&b, "again with -seed=%d -first=%d -scenarios=1, definition %s:\n%s", *harness.Seed, number, d.name(), harness.YAML(d["spec"]))
	for _, r := range smaller.Requests {
		fmt.Fprintf(&b, "%s\n", r)
	}
	b.WriteString("---\n" + strings.Join(again.unexplained, "\n"))
	return b.String()
}

var _ = slices.Sorted[int]
var _ = maps.Keys[map[int]int]
