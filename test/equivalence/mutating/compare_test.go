// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// comparison is what came of some requests.
type comparison struct {
	// outcomes are Celador's by the name of the request.
	outcomes map[string]outcome
	// unexplained are descriptions of what should have been equal.
	unexplained []string
	// explained are the names of the wanted differences that showed.
	explained []string
}

// compareIn starts a cluster and compares the outcomes of requests.
func compareIn(t *testing.T, s scenario, requests map[string]request) (result comparison) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		result = start(t, s).compare(t, requests)
	})
	return result
}

// compare has both plugins examine the same requests.
func (c *cluster) compare(t *testing.T, requests map[string]request) comparison {
	t.Helper()
	result := comparison{outcomes: map[string]outcome{}}
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		r := requests[name]
		ours := c.examine(t, c.celador, r)
		theirs := c.inSomeOrder(t, r, ours)
		result.outcomes[name] = ours
		if reflect.DeepEqual(ours, theirs) {
			continue
		}
		if d := c.explain(r, ours, theirs); d != nil {
			result.explained = append(result.explained, d.name)
			continue
		}
		result.unexplained = append(result.unexplained, fmt.Sprintf("%s (-upstream +celador):\n%s", name, cmp.Diff(theirs, ours)))
	}
	return result
}

// inSomeOrder returns upstream's outcome, if possible the wanted one: it looks at policies,
// bindings and params in the order of Go maps, Celador in that of their names, and both look
// for mistakes in an apply configuration in the order of a map. Upstream is asked again and
// again until it gives Celador's answer. There are six orders at most, so it has to, soon.
func (c *cluster) inSomeOrder(t *testing.T, r request, want outcome) outcome {
	t.Helper()
	const tries = 200
	answer := c.examine(t, c.upstream, r)
	for range tries {
		if reflect.DeepEqual(answer, want) || c.explain(r, want, answer) != nil || c.ordered() && !(want.mistaken() && answer.mistaken()) {
			break
		}
		if !c.ordered() {
			c.shuffle(t)
		}
		answer = c.examine(t, c.upstream, r)
	}
	return answer
}

// String lists what should have been equal.
func (c comparison) String() string { return strings.Join(c.unexplained, "\n") }
