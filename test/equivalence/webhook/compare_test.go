// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

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
	// outcomes are Celador's by step and the name of the request.
	outcomes [2]map[string]outcome
	// unexplained are descriptions of what should have been equal.
	unexplained []string
	// explained are the names of the wanted differences that showed.
	explained []string
	// observed are Celador's observations of metrics.
	observed map[string]float64
}

// compareIn starts a cluster and compares the outcomes of requests.
func compareIn(t *testing.T, s scenario, requests map[string]request) (result comparison) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		result = start(t, s).compare(t, requests)
	})
	return result
}

// compare has the plugins of both steps examine the same requests.
func (c *cluster) compare(t *testing.T, requests map[string]request) comparison {
	t.Helper()
	result := comparison{outcomes: [2]map[string]outcome{{}, {}}}
	names := slices.Sorted(maps.Keys(requests))
	var theirs [2]map[string]outcome
	before := counts(t)
	for _, in := range steps {
		for _, name := range names {
			result.outcomes[in][name] = c.celador[in].examine(t, in, requests[name])
		}
	}
	between := counts(t)
	for _, in := range steps {
		theirs[in] = map[string]outcome{}
		for _, name := range names {
			theirs[in][name] = c.upstream[in].examine(t, in, requests[name])
		}
	}
	after := counts(t)
	result.observed = since(before, between)

	countsDiffer := false
	for called, in := range steps {
		for _, name := range names {
			ours, theirs := result.outcomes[in][name], theirs[in][name]
			if reflect.DeepEqual(ours, theirs) {
				continue
			}
			if d := c.explain(t, in, requests[name], ours, theirs); d != nil {
				result.explained = append(result.explained, d.name)
				countsDiffer = countsDiffer || d.countsDiffer
				continue
			}
			result.unexplained = append(result.unexplained, fmt.Sprintf("%s, %s (-upstream +celador):\n%s", called, name, cmp.Diff(theirs, ours)))
		}
	}
	if diff := cmp.Diff(withProposed(since(between, after)), result.observed); diff != "" && !countsDiffer {
		result.unexplained = append(result.unexplained, "metrics (-upstream +celador):\n"+diff)
	}
	return result
}

// String lists what should have been equal.
func (c comparison) String() string { return strings.Join(c.unexplained, "\n") }
