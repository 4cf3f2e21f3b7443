// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

func TestAdd(t *testing.T) {
	for _, test := range []struct {
		name              string
		upstream, celador float64
		target            report.Target
		ratio             float64
		met               bool
	}{
		{"faster", 1000, 10, report.Target{Times: 50}, 100, true},
		{"just fast enough", 1000, 10, report.Target{Times: 100}, 100, true},
		{"not fast enough", 1000, 10, report.Target{Times: 101}, 100, false},
		{"slower", 10, 1000, report.Target{Times: 5}, 0.01, false},
		{"nothing at all", 10, 0, report.Target{Times: 5}, 0, true},
		{"within the bound", 5008, 2, report.Target{Max: new(2.0)}, 2504, true},
		{"over the bound", 5008, 4, report.Target{Max: new(2.0)}, 1252, false},
		{"under the bound though worse", 1, 2, report.Target{Max: new(2.0)}, 0.5, true},
		{"over the bound nothing", 5008, 2, report.Target{Max: new(0.0)}, 2504, false},
		{"bounded nothing", 5008, 0, report.Target{Max: new(2.0)}, 0, true},
	} {
		var r report.Report
		r.Add(report.Row{Upstream: test.upstream, Celador: test.celador, Target: test.target})
		met := 0
		if test.met {
			met = 1
		}
		if got := r.Rows[0]; got.Met != test.met || got.Ratio != test.ratio || r.Met != met || r.Targets != 1 {
			t.Errorf("%s: got %+v, %d of %d met", test.name, got, r.Met, r.Targets)
		}
	}
}

func TestAddInterval(t *testing.T) {
	for _, test := range []struct {
		name  string
		row   report.Row
		ratio float64
		met   bool
	}{
		{"lower end above", report.Row{Upstream: 100, Celador: 5, Interval: &measure.Estimate{Low: 12}}, 20, true},
		{"lower end below", report.Row{Upstream: 100, Celador: 5, Interval: &measure.Estimate{Low: 11}}, 20, false},
		{"below noise, lower end above", report.Row{Upstream: 100, Celador: 1, BelowNoise: true, Interval: &measure.Estimate{Low: 15}}, 0, true},
		{"negative, lower end below", report.Row{Upstream: 100, Celador: -1, BelowNoise: true, Interval: &measure.Estimate{Low: 9}}, 0, false},
	} {
		var r report.Report
		test.row.Target = report.Target{Times: 12}
		r.Add(test.row)
		if got := r.Rows[0]; got.Ratio != test.ratio || got.Met != test.met {
			t.Errorf("%s: got ratio %v, met: %v", test.name, got.Ratio, got.Met)
		}
	}
}

// A row whose unit is a rate or a share meets its target if the value is at least the target.
func TestAddRate(t *testing.T) {
	for _, test := range []struct {
		unit              report.Unit
		upstream, celador float64
		target            report.Target
		ratio             float64
		met               bool
	}{
		{report.PerSecond, 100, 300, report.Target{Times: 3}, 3, true},
		{report.PerSecond, 100, 299, report.Target{Times: 3}, 2.99, false},
		{report.PerSecond, 300, 100, report.Target{}, 1.0 / 3, false},
		{report.Percent, 20, 85, report.Target{Min: 85}, 4.25, true},
		{report.Percent, 20, 80, report.Target{Min: 85}, 4, false},
	} {
		var r report.Report
		r.Add(report.Row{Unit: test.unit, Upstream: test.upstream, Celador: test.celador, Target: test.target})
		if got := r.Rows[0]; got.Ratio != test.ratio || got.Met != test.met {
			t.Errorf("%+v: got ratio %v, met: %v", test, got.Ratio, got.Met)
		}
	}
}

// sample returns a report with rows of every unit and a point with only one side.
func sample() *report.Report {
	cost := func(nanoseconds float64) *measure.Cost { return &measure.Cost{Nanoseconds: nanoseconds} }
	r := &report.Report{
		Environment: report.Environment{CPU: "A <fast> one & \"more\"", CPUs: 2, Go: "go1.26"},
		Series: []report.Series{
			{Name: "none match", Points: []report.Point{
				{Policies: 1, Upstream: cost(3050), Celador: cost(150)},
				{Policies: 1000, Upstream: cost(1_022_000), Celador: cost(160)},
				{Policies: 10000, Celador: cost(155)},
			}},
			{Name: "all match", Points: []report.Point{
				{Policies: 1, Upstream: cost(63500), Celador: cost(5000)},
				{Policies: 1000, Upstream: cost(97_500_000), Celador: cost(5_000_000)},
			}},
		},
	}
	for _, row := range []report.Row{
		{Scenario: "S1", About: "none match", Unit: report.Nanoseconds, Upstream: 1_022_000, Celador: 160, Target: report.Target{Times: 1000}},
		{Scenario: "S1", About: "allocations", Unit: report.Allocations, Upstream: 5008, Target: report.Target{Max: new(2.0)}},
		{Scenario: "S1", About: "growth", Unit: report.Times, Upstream: 335.08, Celador: 1.033, Target: report.Target{Max: new(2.0)}},
		{Scenario: "S4", About: "bindings", Unit: report.Nanoseconds, Upstream: 31_200_000, Celador: 1_010_000, Target: report.Target{Times: 100}},
		{Scenario: "S7", About: "heap", Unit: report.Bytes, Upstream: 388 << 20, Celador: 99.5 * (1 << 20), Target: report.Target{Times: 3}, Note: "many expressions"},
		{Scenario: "S2c", About: "cold", Unit: report.Nanoseconds, Upstream: 11_491_000, Celador: 838_000},
		{Scenario: "S8", About: "denial", Unit: report.Nanoseconds, Upstream: 1.11e9, Celador: 34_900_000, Target: report.Target{Max: new(50_000_000.0)}},
		{Scenario: "S9", About: "p99", Unit: report.Nanoseconds, Upstream: 24_700_000, Celador: -84_500, BelowNoise: true, Interval: &measure.Estimate{Value: measure.Unbounded, Low: 14, High: measure.Unbounded}, Target: report.Target{Times: 10}},
		{Scenario: "S16", About: "rate", Unit: report.PerSecond, Upstream: 52.5, Celador: 210, Target: report.Target{Times: 3}},
		{Scenario: "S16", About: "share", Unit: report.Percent, Upstream: 20, Celador: 80, Target: report.Target{Min: 85}},
	} {
		r.Add(row)
	}
	return r
}

func TestWriteTable(t *testing.T) {
	var got strings.Builder
	if err := sample().WriteTable(&got); err != nil {
		t.Fatal(err)
	}
	want := `scenario        upstream     celador   ratio        target            verdict
S1 none match   1.02 ms      160 ns    6388x        at least 1000x    met
S1 allocations  5008 allocs  0 allocs  -            at most 2 allocs  met
S1 growth       335 x        1.03 x    324x         at most 2 x       met
S4 bindings     31.2 ms      1.01 ms   30.9x        at least 100x     missed
S7 heap         388 MiB      99.5 MiB  3.90x        at least 3x       met
S2c cold        11.5 ms      838 µs    13.7x        -                 -
S8 denial       1.11 s       34.9 ms   31.8x        at most 50 ms     met
S9 p99          24.7 ms      -84.5 µs  below noise  at least 10x      met
S16 rate        52.5 /s      210 /s    4x           at least 3x       met
S16 share       20 %         80 %      4x           at least 85 %     missed

S7 heap: many expressions
targets met: 7 of 9
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestWriteJSON(t *testing.T) {
	want := sample()
	var buffer bytes.Buffer
	if err := want.WriteJSON(&buffer); err != nil {
		t.Fatal(err)
	}
	got := &report.Report{}
	if err := json.Unmarshal(buffer.Bytes(), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
