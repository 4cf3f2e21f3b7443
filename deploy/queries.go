// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package deploy holds dashboards and rules for the metrics of kube-apiserver, and reads the
// queries in them for tests.
package deploy

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"

	"celador.io/celador/deploy/internal/promql"
)

// Files holds the dashboards and rules.
//
//go:embed dashboards/*.json rules/*.yaml
var Files embed.FS

// eachFile calls decode with the name and the text of each file that matches a pattern. It returns
// the first error, with the name.
func eachFile(pattern string, decode func(name string, text []byte) error) error {
	names, err := fs.Glob(Files, pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(Files, name)
		if err == nil {
			err = decode(name, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Query is a query of a dashboard or a rule.
type Query struct {
	// Source is the file, with the title of the panel or the name of the variable or rule.
	Source string
	promql.Expression
	// Shown are the labels of the result that the legend or the annotations show.
	Shown []string
}

// TargetLabels are the labels that Prometheus adds to the metrics of a server.
var TargetLabels = []string{"cluster", "instance", "job"}

var (
	labelValues = regexp.MustCompile(`^label_values\((.*), *([a-z_]+)\)$`)
	shown       = regexp.MustCompile(`{{ *(?:\$labels\.)?([a-z_]+) *}}`)
)

// Queries returns the queries of all dashboards and rules. It returns an error if one cannot be
// parsed.
func Queries() (queries []Query, err error) {
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	dashboards, err := Dashboards()
	if err != nil {
		return nil, err
	}
	add := func(source, expr string, texts ...string) error {
		q := Query{Source: source}
		if q.Expression, err = promql.Parse(expr); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
		for _, text := range texts {
			for _, found := range shown.FindAllStringSubmatch(text, -1) {
				q.Shown = append(q.Shown, found[1])
			}
		}
		queries = append(queries, q)
		return nil
	}
	for _, r := range rules {
		if err := add(r.File+": "+r.Record+r.Alert, r.Expr, r.Annotations["summary"], r.Annotations["description"]); err != nil {
			return nil, err
		}
	}
	for _, d := range dashboards {
		for _, v := range d.Templating.List {
			if query, ok := v.Query.(string); ok && v.Type == "query" {
				parts := labelValues.FindStringSubmatch(query)
				if parts == nil {
					return nil, fmt.Errorf("%s: variable %s: want label_values(selector, label), got %s", d.File, v.Name, query)
				}
				if err := add(d.File+": variable "+v.Name, "max by ("+parts[2]+") ("+parts[1]+")"); err != nil {
					return nil, err
				}
			}
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				if err := add(d.File+": "+p.Title, target.Expr, target.Legend); err != nil {
					return nil, err
				}
			}
		}
	}
	return queries, nil
}

// A Read is a selector by which queries of dashboards and rules read a metric of servers.
type Read struct {
	// Selector has neither matchers nor labels of TargetLabels.
	promql.Selector
	// Sources are the sources of the queries that contain the selector.
	Sources []string
}

// Reads returns the selectors by which queries read metrics of servers, sorted by metric. It leaves
// out selectors of series that recording rules produce.
func Reads() ([]Read, error) {
	queries, err := Queries()
	if err != nil {
		return nil, err
	}
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	recorded := map[string]bool{}
	for _, r := range rules {
		recorded[r.Record] = true
	}
	reads := map[string]*Read{}
	for _, q := range queries {
		for _, s := range q.Selectors {
			if recorded[s.Metric] {
				continue
			}
			s.Matchers = slices.DeleteFunc(slices.Clone(s.Matchers), func(m promql.Matcher) bool { return slices.Contains(TargetLabels, m.Label) })
			s.Labels = slices.DeleteFunc(slices.Clone(s.Labels), func(label string) bool { return slices.Contains(TargetLabels, label) })
			key := fmt.Sprintf("%+v", s)
			if reads[key] == nil {
				reads[key] = &Read{Selector: s}
			}
			if sources := &reads[key].Sources; !slices.Contains(*sources, q.Source) {
				*sources = append(*sources, q.Source)
			}
		}
	}
	var sorted []Read
	for _, key := range slices.Sorted(maps.Keys(reads)) {
		sorted = append(sorted, *reads[key])
	}
	return sorted, nil
}
