// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"slices"
	"strings"
)

// A pair holds the versions from and to which objects are converted.
type pair struct{ from, to string }

// A graph has versions as nodes and converters as edges.
type graph struct {
	versions []string
	// next holds the versions that converters lead to, in the order of the converters.
	next map[string][]string
	// converters holds the index of the converter of each pair that has one.
	converters map[pair]int
}

// newGraph returns the graph of the converters of a CRDSpec. It ignores converters of unknown
// versions, of one version to itself and, for each pair, all but the first.
func newGraph(spec *CRDSpec) *graph {
	g := &graph{next: map[string][]string{}, converters: map[pair]int{}}
	for _, v := range spec.Versions {
		g.versions = append(g.versions, v.Name)
	}
	for i, c := range spec.Converters {
		p := pair{c.FromVersion, c.ToVersion}
		if _, ok := g.converters[p]; ok || p.from == p.to || !slices.Contains(g.versions, p.from) || !slices.Contains(g.versions, p.to) {
			continue
		}
		g.converters[p] = i
		g.next[p.from] = append(g.next[p.from], p.to)
	}
	return g
}

// A chain is the sequence of versions that an object goes through, including the first and the last
// one.
type chain []string

// String joins the versions with arrows.
func (c chain) String() string { return strings.Join(c, " -> ") }

// chains returns the shortest chains from a version to each version that can be reached. If there
// are several to a version, chains returns two of them, which errors name.
func (g *graph) chains(from string) map[string][]chain {
	found := map[string][]chain{from: {{from}}}
	level := []string{from}
	for length := 2; len(level) > 0; length++ {
		var nextLevel []string
		for _, version := range level {
			for _, next := range g.next[version] {
				known := found[next]
				if len(known) > 0 && len(known[0]) < length {
					continue
				}
				if len(known) == 0 {
					nextLevel = append(nextLevel, next)
				}
				for _, c := range found[version] {
					if len(found[next]) < 2 {
						found[next] = append(found[next], append(slices.Clip(c), next))
					}
				}
			}
		}
		level = nextLevel
	}
	delete(found, from)
	return found
}
