// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"slices"
	"testing"
)

var (
	// only matches the command that measures one scenario.
	only = regexp.MustCompile("`bin/benchmark --only (S[0-9]+[a-z]?)`")
	// figures matches the scenario and the figures of both in a row that the benchmark prints.
	figures = regexp.MustCompile(`(?m)^    (S[0-9]+[a-z]?) .*?  +(-?[0-9.]+ \S+)  +(-?[0-9.]+ \S+)  +`)
)

// TestFigures checks that the figures in README.md are those of the last run in performance.md.
func TestFigures(t *testing.T) {
	var rows [][]string
	for _, found := range figures.FindAllStringSubmatch(read(t, "performance.md"), -1) {
		rows = append(rows, found[1:])
	}
	for _, row := range tableRows(t, "../README.md", "Why") {
		scenario := only.FindStringSubmatch(row[3])
		if scenario == nil {
			t.Errorf("%q does not name a scenario", row[3])
			continue
		}
		want := []string{scenario[1], row[1], row[2]}
		if !slices.ContainsFunc(rows, func(row []string) bool { return slices.Equal(row, want) }) {
			t.Errorf("README.md has %q for %s; performance.md has no such row of this scenario", row[1:3], scenario[1])
		}
	}
}
