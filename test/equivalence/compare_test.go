// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// comparison is what came of some requests.
type comparison struct {
	// celador and upstream are the outcomes by the name of the request.
	celador, upstream map[string]outcome
	// unexplained are descriptions of what should have been equal.
	unexplained []string
	// explained are the names of the wanted differences that showed.
	explained []string
	// checks are Celador's observations of metrics.
	checks map[string]float64
}

// compare has both plugins examine the same requests.
//
// Upstream looks at policies, bindings and params in the order of Go maps, Celador in
// that of their names. Warnings and annotations are therefore compared as sets. The
// error is the first denial in that order: when the errors differ and all else agrees,
// upstream is asked again and again, in other orders, until it gives Celador's answer.
// It has to, soon: there are at most a few dozen denials to come first.
func (c *cluster) compare(t *testing.T, requests map[string]request, ordered bool) comparison {
	t.Helper()
	result := comparison{celador: map[string]outcome{}, upstream: map[string]outcome{}}
	names := slices.Sorted(maps.Keys(requests))
	before := counts(t)
	for _, name := range names {
		result.celador[name] = examine(t, c.celador, requests[name])
	}
	between := counts(t)
	for _, name := range names {
		result.upstream[name] = examine(t, c.upstream, requests[name])
	}
	after := counts(t)
	result.checks = since(before, between)

	for _, name := range names {
		ours, theirs := result.celador[name], result.upstream[name]
		if !ordered {
			ours = ours.unordered()
			theirs = c.inSomeOrder(t, requests[name], theirs, ours)
		}
		if reflect.DeepEqual(ours, theirs) {
			continue
		}
		if d := explain(ours, theirs); d != nil {
			result.explained = append(result.explained, d.name)
			continue
		}
		result.unexplained = append(result.unexplained, fmt.Sprintf("%s (-upstream +celador):\n%s", name, cmp.Diff(theirs, ours)))
	}
	if diff := cmp.Diff(since(between, after), result.checks); diff != "" && result.explained == nil {
		result.unexplained = append(result.unexplained, "metrics (-upstream +celador):\n"+diff)
	}
	return result
}

// inSomeOrder returns what upstream answers, if possible the wanted outcome.
func (c *cluster) inSomeOrder(t *testing.T, r request, answer, want outcome) outcome {
	t.Helper()
	const tries = 500
	answer = answer.unordered()
	for range tries {
		if answer.Error == want.Error || !reflect.DeepEqual(answer.apart(), want.apart()) {
			break
		}
		c.shuffle(t)
		answer = examine(t, c.upstream, r).unordered()
	}
	return answer
}

// apart returns the outcome without what depends on the order. Whether there is an error
// does not.
func (o outcome) apart() outcome {
	if o.Error != "" {
		o.Error, o.Status = "some", metav1.Status{}
	}
	return o
}

// String lists what should have been equal.
func (c comparison) String() string { return strings.Join(c.unexplained, "\n") }
