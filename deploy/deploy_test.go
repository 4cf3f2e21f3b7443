// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"celador.io/celador/deploy"
)

// must returns a value, or ends the test with the error.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// A legend or annotation shows nothing for a label that the query aggregates away.
func TestShownLabels(t *testing.T) {
	queries := must(deploy.Queries())(t)
	rules := must(deploy.Rules())(t)
	// byRecord holds the labels of recorded series.
	byRecord := map[string][]string{}
	for _, q := range queries {
		for _, r := range rules {
			if r.Record != "" && q.Source == r.File+": "+r.Record {
				byRecord[r.Record] = q.Labels
			}
		}
	}
	for _, q := range queries {
		labels := q.Labels
		if labels == nil && len(q.Selectors) > 0 {
			labels = byRecord[q.Selectors[0].Metric]
		}
		for _, label := range q.Shown {
			if !slices.Contains(labels, label) {
				t.Errorf("%s shows the label %s, but the query has %v", q.Source, label, labels)
			}
		}
		for _, s := range q.Selectors {
			recorded, ok := byRecord[s.Metric]
			for _, label := range s.Labels {
				if ok && !slices.Contains(recorded, label) {
					t.Errorf("%s reads the label %s of %s, which has %v", q.Source, label, s.Metric, recorded)
				}
			}
		}
	}
}

// The name of a recorded series begins with its labels.
func TestRecordedNames(t *testing.T) {
	for _, q := range must(deploy.Queries())(t) {
		if name, ok := strings.CutPrefix(q.Source, "rules/recording.yaml: "); ok {
			if labels, _, _ := strings.Cut(name, ":"); q.Labels != nil && labels != strings.Join(q.Labels, "_") {
				t.Errorf("%s has the labels %v", name, q.Labels)
			}
		}
	}
}

func TestAlerts(t *testing.T) {
	runbooks := must(os.ReadFile("../docs/runbooks.md"))(t)
	var tests strings.Builder
	for _, file := range must(filepath.Glob("rules/tests/*.yaml"))(t) {
		tests.Write(must(os.ReadFile(file))(t))
	}
	var alerts []string
	for _, rule := range must(deploy.Rules())(t) {
		if rule.Alert == "" {
			continue
		}
		alerts = append(alerts, rule.Alert)
		if rule.For == "" || !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) {
			t.Errorf("%s: for %q, severity %q", rule.Alert, rule.For, rule.Labels["severity"])
		}
		if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
			t.Errorf("%s: annotations are %v, want a summary and a description", rule.Alert, rule.Annotations)
		}
		if want := "https://celador.io/docs/runbooks.md#" + strings.ToLower(rule.Alert); rule.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url is %s, want %s", rule.Alert, rule.Annotations["runbook_url"], want)
		}
		_, section, ok := strings.Cut(string(runbooks), "\n### "+rule.Alert+"\n")
		section, _, _ = strings.Cut(section, "\n##")
		for _, part := range []string{"| Meaning |", "| Impact |", "Diagnosis:", "Mitigation:"} {
			if !ok || !strings.Contains(strings.Replace(section, "Diagnosis, ", "Diagnosis: ", 1), part) {
				t.Errorf("section %s of docs/runbooks.md has no %q", rule.Alert, part)
			}
		}
		if !strings.Contains(tests.String(), "- alertname: "+rule.Alert+"\n") || !strings.Contains(tests.String(), "- {alertname: "+rule.Alert+", ") {
			t.Errorf("rules/tests has no test in which %s fires, or none in which it does not", rule.Alert)
		}
	}
	for _, section := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(string(runbooks), -1) {
		if !slices.Contains(alerts, section[1]) {
			t.Errorf("docs/runbooks.md has a section for %s, which is no alert", section[1])
		}
	}
}

// Panels have titles, descriptions and places of their own, and all queries depend on the
// variables.
func TestDashboards(t *testing.T) {
	dashboards := must(deploy.Dashboards())(t)
	if len(dashboards) == 0 {
		t.Fatal("no dashboards")
	}
	for _, d := range dashboards {
		var variables []string
		for _, v := range d.Templating.List {
			variables = append(variables, v.Name)
			if v.Type == "query" {
				expectDatasource(t, d.File+": variable "+v.Name, v.Datasource)
			}
		}
		if got, want := fmt.Sprint(variables), "[datasource cluster job]"; got != want {
			t.Errorf("%s has the variables %s, want %s", d.File, got, want)
		}
		for i, p := range d.Panels {
			where := d.File + ": " + p.Title
			if p.Title == "" || p.Type != "row" && p.Description == "" {
				t.Errorf("panel %d of %s has no title or no description", p.ID, d.File)
			}
			for _, other := range d.Panels[:i] {
				if p.ID == other.ID || p.Title == other.Title || overlap(p.Position, other.Position) {
					t.Errorf("%s has the id, the title or the place of %s", where, other.Title)
				}
			}
			if p.Position.X+p.Position.W > 24 {
				t.Errorf("%s is outside of the grid: %+v", where, p.Position)
			}
			if p.Type == "row" {
				continue
			}
			expectDatasource(t, where, p.Datasource)
			if len(p.Targets) == 0 {
				t.Errorf("%s has no queries", where)
			}
			for _, target := range p.Targets {
				expectDatasource(t, where, target.Datasource)
			}
		}
	}
	for _, q := range must(deploy.Queries())(t) {
		if !strings.HasPrefix(q.Source, "dashboards/") || strings.Contains(q.Source, ": variable ") {
			continue
		}
		for _, s := range q.Selectors {
			if !slices.Contains(s.Labels, "cluster") || !slices.Contains(s.Labels, "job") {
				t.Errorf("%s reads %s of all clusters or jobs", q.Source, s.Metric)
			}
		}
	}
}

// The dashboard shows each metric of Celador.
func TestShownMetrics(t *testing.T) {
	reference := must(os.ReadFile("../docs/reference.md"))(t)
	shown := map[string]bool{}
	for _, q := range must(deploy.Queries())(t) {
		if strings.HasPrefix(q.Source, "dashboards/") {
			for _, s := range q.Selectors {
				shown[strings.TrimSuffix(strings.TrimSuffix(s.Metric, "_bucket"), "_count")] = true
			}
		}
	}
	metrics := regexp.MustCompile("(?m)^\\| `(celador_[a-z_]+)` \\|").FindAllStringSubmatch(string(reference), -1)
	if len(metrics) == 0 {
		t.Error("docs/reference.md lists no metrics")
	}
	for _, metric := range metrics {
		if !shown[metric[1]] {
			t.Errorf("no panel shows %s", metric[1])
		}
	}
}

func expectDatasource(t *testing.T, where string, got deploy.Datasource) {
	t.Helper()
	if want := (deploy.Datasource{Type: "prometheus", UID: "$datasource"}); got != want {
		t.Errorf("%s has the data source %+v, want %+v", where, got, want)
	}
}

func overlap(a, b deploy.Position) bool {
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

// ownMetric matches a row of the table of metrics in the reference.
var ownMetric = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\| ([^|]*) \\|")

// Celador's own metrics have the names and labels of the reference, which a test in docs compares
// with the code. A test in test/integration/examples checks all metrics on a server.
func TestOwnMetrics(t *testing.T) {
	labels, queried := map[string]string{}, map[string]bool{}
	for _, row := range ownMetric.FindAllStringSubmatch(string(must(os.ReadFile("../docs/reference.md"))(t)), -1) {
		labels[row[1]] = row[3]
		if row[2] == "histogram" {
			labels[row[1]+"_bucket"], labels[row[1]+"_count"], labels[row[1]+"_sum"] = row[3]+", `le`", row[3], row[3]
		}
	}
	for _, read := range must(deploy.Reads())(t) {
		queried[strings.TrimSuffix(read.Metric, "_bucket")] = true
		if !strings.HasPrefix(read.Metric, "celador_") {
			continue
		}
		for _, label := range read.Labels {
			if !strings.Contains(labels[read.Metric], "`"+label+"`") {
				t.Errorf("%s reads the label %s of %s, which has %q in docs/reference.md", strings.Join(read.Sources, ", "), label, read.Metric, labels[read.Metric])
			}
		}
	}
	for metric := range labels {
		if series := strings.HasSuffix(metric, "_bucket") || strings.HasSuffix(metric, "_count") || strings.HasSuffix(metric, "_sum"); !series && !queried[metric] {
			t.Errorf("no query reads %s", metric)
		}
	}
}
