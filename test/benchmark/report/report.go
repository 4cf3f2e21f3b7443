// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report presents what was measured: as a table, as JSON and as a chart.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"celador.io/celador/test/benchmark/measure"
)

// Report is all that a run measured.
type Report struct {
	Started     time.Time   `json:"started"`
	Seconds     float64     `json:"seconds"`
	Quick       bool        `json:"quick"`
	Environment Environment `json:"environment"`
	Rows        []Row       `json:"rows"`
	Series      []Series    `json:"series"`
	Met         int         `json:"targetsMet"`
	Targets     int         `json:"targets"`
}

// Row compares one figure of a scenario.
type Row struct {
	Scenario string `json:"scenario"`
	About    string `json:"about"`
	Unit     Unit   `json:"unit"`
	// Upstream and Celador are the figures: the smaller, the better.
	Upstream float64 `json:"upstream"`
	Celador  float64 `json:"celador"`
	Target   Target  `json:"target"`
	// Ratio is how many times better Celador is: zero when its figure is.
	Ratio float64 `json:"ratio,omitempty"`
	Met   bool    `json:"met"`
	// Note is what else is worth knowing.
	Note string `json:"note,omitempty"`
}

// Target is what Celador has to reach. One of the fields is set.
type Target struct {
	// Times is how many times better than upstream it has to be.
	Times float64 `json:"times,omitempty"`
	// Most is the largest figure that it may have.
	Most float64 `json:"most,omitempty"`
}

// Series is the cost of one request for growing numbers of policies.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is the cost of one request. A side is nil where it was not measured.
type Point struct {
	Policies int           `json:"policies"`
	Upstream *measure.Cost `json:"upstream,omitempty"`
	Celador  *measure.Cost `json:"celador,omitempty"`
}

// Add judges a row and adds it.
func (r *Report) Add(row Row) {
	if row.Celador > 0 {
		row.Ratio = row.Upstream / row.Celador
	}
	if row.Target.Times > 0 {
		row.Met = row.Upstream >= row.Target.Times*row.Celador
	} else {
		row.Met = row.Celador <= row.Target.Most
	}
	r.Rows = append(r.Rows, row)
	r.Targets++
	if row.Met {
		r.Met++
	}
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
