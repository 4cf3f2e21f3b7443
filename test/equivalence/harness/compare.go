// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A Comparison collects the differences between the outcomes of Kubernetes' and Celador's plugins.
// Differences that are wanted have names.
type Comparison struct {
	// Unexplained describes the differences that are not wanted, with which the test fails.
	Unexplained []string
	// Explained holds the names of the wanted differences that occurred.
	Explained []string
}

// Compare compares the outcomes of a request with the two plugins. If they differ, it calls
// explain, which returns the name of the wanted difference that is the reason, or an empty string
// if there is none.
func (c *Comparison) Compare(request string, upstream, celador any, explain func() string) {
	if reflect.DeepEqual(upstream, celador) {
		return
	}
	if name := explain(); name != "" {
		c.Explained = append(c.Explained, name)
		return
	}
	c.Unexplained = append(c.Unexplained, fmt.Sprintf("%s (-upstream +celador):\n%s", request, cmp.Diff(upstream, celador)))
}

// Check fails the test if there are differences that are not wanted.
func (c *Comparison) Check(t *testing.T) {
	t.Helper()
	if c.Unexplained != nil {
		t.Error(c.String())
	}
}

// String lists the differences that are not wanted.
func (c Comparison) String() string { return strings.Join(c.Unexplained, "\n") }

// Names returns the names of requests in lexical order.
func Names(requests map[string]Request) []string { return slices.Sorted(maps.Keys(requests)) }
