// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report formats the measurements as a table, as JSON and as a chart.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"celador.io/celador/test/benchmark/measure"
)

// A Report holds the measurements of a run.
type Report struct {
	Started     time.Time   `json:"started"`
	Seconds     float64     `json:"seconds"`
	Quick       bool        `json:"quick"`
	Environment Environment `json:"environment"`
	Rows        []Row       `json:"rows"`
	Series      []Series    `json:"series"`
	Throughput  []Rates     `json:"throughput"`
	Met         int         `json:"targetsMet"`
	Targets     int         `json:"targets"`
}

// A Row is one figure of a scenario, for upstream and for Celador, with its target.
type Row struct {
	Scenario string `json:"scenario"`
	About    string `json:"about"`
	Unit     Unit   `json:"unit"`
	// Upstream and Celador are the figures. Smaller ones are better, except for rates and shares.
	Upstream float64 `json:"upstream"`
	Celador  float64 `json:"celador"`
	Target   Target  `json:"target"`
	// Ratio says how many times better Celador is, or is zero if a figure is not above zero.
	Ratio float64 `json:"ratio,omitempty"`
	// Interval is the confidence interval of the ratio. If it is set, the row meets its target only
	// if the lower end of the interval does.
	Interval *measure.Estimate `json:"interval,omitempty"`
	// BelowNoise is true if a figure is a difference that cannot be told from zero. The row has no
	// ratio then.
	BelowNoise bool `json:"belowNoise,omitempty"`
	Met        bool `json:"met"`
	// Note explains the figures. It is printed below the table.
	Note string `json:"note,omitempty"`
}

// A Target is the required result. At most one field is set; a row without any has no target.
type Target struct {
	// Times is the required minimum of Row.Ratio.
	Times float64 `json:"times,omitempty"`
	// Max is the maximum figure of Celador.
	Max *float64 `json:"most,omitempty"`
	// Min is the minimum figure of Celador.
	Min float64 `json:"least,omitempty"`
}

// A Series is the cost of one request with increasing numbers of policies, for the chart.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// A Point is the cost of one request with some number of policies. The cost is nil if a plugin was
// not measured with so many.
type Point struct {
	Policies int           `json:"policies"`
	Upstream *measure.Cost `json:"upstream,omitempty"`
	Celador  *measure.Cost `json:"celador,omitempty"`
}

// Rates holds the requests a second that upstream's and Celador's servers handle with some number
// of policies.
type Rates struct {
	Policies int     `json:"policies"`
	Upstream float64 `json:"upstream"`
	Celador  float64 `json:"celador"`
}

// Add computes the ratio of a row, compares the row with its target, and adds it.
func (r *Report) Add(row Row) {
	smaller, larger := row.sides()
	if smaller > 0 && larger > 0 && !row.BelowNoise {
		row.Ratio = larger / smaller
	}
	row.Met = row.met()
	r.Rows = append(r.Rows, row)
	if row.Target != (Target{}) {
		r.Targets++
	}
	if row.Met {
		r.Met++
	}
}

// sides returns both figures. The first is the one that is smaller if Celador is better.
func (r *Row) sides() (smaller, larger float64) {
	if r.Unit.moreIsBetter() {
		return r.Upstream, r.Celador
	}
	return r.Celador, r.Upstream
}

// met reports whether the row has a target and meets it.
func (r *Row) met() bool {
	smaller, larger := r.sides()
	switch target := r.Target; {
	case target.Times > 0 && r.Interval != nil:
		return r.Interval.Low >= target.Times
	case target.Times > 0:
		return larger >= target.Times*smaller
	case target.Max != nil:
		return r.Celador <= *target.Max
	case target.Min > 0:
		return r.Celador >= target.Min
	}
	return false
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("report as JSON: %w", err)
	}
	return nil
}
