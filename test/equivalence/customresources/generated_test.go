// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/celador/test/equivalence/harness"
)

var scenarios = flag.Int("scenarios", 2000, "number of generated scenarios")

// shares are the percentages of answers that must have a property. Equal answers prove little if
// nearly all are of the same sort.
var shares = map[string]int{"200": 20, "created": 12, "invalid": 8, "conflicting": 2, "refused": 3, "warned": 10, "seen by admission": 20}

const generatedDefinitions = 60

// TestGenerated compares generated requests for generated definitions.
func TestGenerated(t *testing.T) {
	t.Parallel()
	p := apart(t)
	definitions := p.pool(t, *harness.Seed, generatedDefinitions)
	t.Run("discovery", func(t *testing.T) { compareDiscovery(t, p, definitions) })
	t.Run("OpenAPI", func(t *testing.T) { compareOpenAPI(t, p) })
	t.Run("definitions", func(t *testing.T) { compareDefinitionRequests(t, p, *harness.Seed+2, max(*scenarios/40, 1)) })
	t.Run("objects", func(t *testing.T) { runGenerated(t, p, definitions, *scenarios, false) })
}

// TestOnePrefix lets both servers take turns on the same objects.
func TestOnePrefix(t *testing.T) {
	t.Parallel()
	p := together(t)
	runGenerated(t, p, p.pool(t, *harness.Seed+10, generatedDefinitions/6), *scenarios/20, false)
}

// TestCBOR compares requests and storage in CBOR.
func TestCBOR(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CBORServingAndStorage, true)
	p := apart(t)
	runGenerated(t, p, p.pool(t, *harness.Seed+20, generatedDefinitions/6), *scenarios/20, true)
}

// runGenerated runs scenarios, in parallel for different definitions.
func runGenerated(t *testing.T, p *pair, definitions []definition, count int, cbor bool) {
	t.Helper()
	started := time.Now()
	var (
		lock     sync.Mutex
		group    sync.WaitGroup
		outcomes harness.Shares
		statuses = map[int]int{}
		requests int
		// explained counts the wanted differences by name.
		explained = map[string]int{}
		failures  int
	)
	workers := make(chan struct{}, 16)
	for i, d := range definitions {
		group.Go(func() {
			workers <- struct{}{}
			defer func() { <-workers }()
			t.Run(d.name(), func(t *testing.T) {
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
						outcomes.Add(map[string]bool{
							"200": a.Status == 200, "created": a.Status == 201, "invalid": a.Status == 422, "conflicting": a.Status == 409, "refused": a.Status == 400,
							"warned": strings.Contains(a.Header, "Warning:"), "seen by admission": a.Admission != "",
						})
					}
					requests += len(c.answers)
					for _, name := range c.explained {
						explained[name]++
					}
					if c.unexplained != nil {
						failures++
					}
					// Shrinking takes long.
					enough := failures > 5
					lock.Unlock()
					if c.unexplained != nil && enough {
						t.Errorf("again with -seed=%d -first=%d -scenarios=1", *harness.Seed, number)
						continue
					}
					if c.unexplained != nil {
						t.Error(p.describe(t, d, s, number, c))
					}
				}
			})
		})
	}
	group.Wait()
	t.Logf("%d scenarios over %d definitions in %s, %d requests: %v, %v; wanted differences: %v", count, len(definitions), time.Since(started).Round(time.Second), requests, statuses, outcomes.Count, explained)
	if count >= 100 {
		outcomes.Check(t, shares)
	}
}

// describe shrinks a scenario in which the sides differ, and describes it.
func (p *pair) describe(t testing.TB, d definition, s scenario, number uint64, c *comparison) string {
	smaller, _ := harness.Shrink(s, map[string]int{}, func(s scenario, _ map[string]int) bool {
		return p.run(t, d, s).unexplained != nil
	})
	again := p.run(t, d, smaller)
	var b strings.Builder
	if again.unexplained == nil {
		b.WriteString("This difference shows only sometimes. ")
		smaller, again = s, c
	}
	fmt.Fprintf(&b, "again with -seed=%d -first=%d -scenarios=1, definition %s:\n%s", *harness.Seed, number, d.name(), harness.YAML(d["spec"]))
	for _, r := range smaller.Requests {
		fmt.Fprintf(&b, "%s\n", r)
	}
	b.WriteString("---\n" + strings.Join(again.unexplained, "\n"))
	return b.String()
}
