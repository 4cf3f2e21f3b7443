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
	Met         int         `json:"targetsMet"`
	Targets     int         `json:"targets"`
}

// A Row compares one figure of a scenario.
type Row struct {
	Scenario string `json:"scenario"`
	About    string `json:"about"`
	Unit     Unit   `json:"unit"`
	// Upstream and Celador are the figures; smaller is better.
	Upstream float64 `json:"upstream"`
	Celador  float64 `json:"celador"`
	Target   Target  `json:"target"`
	// Ratio is Upstream divided by Celador, or zero if Celador is zero.
	Ratio float64 `json:"ratio,omitempty"`
	Met   bool    `json:"met"`
	// Note is a remark for the reader.
	Note string `json:"note,omitempty"`
}

// A Target is the required result. Exactly one field is set.
type Target struct {
	// Times is the required minimum of Row.Ratio.
	Times float64 `json:"times,omitempty"`
	// Max is the maximum figure of Celador.
	Max float64 `json:"most,omitempty"`
}

// A Series is the cost of one request for increasing numbers of policies.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// A Point is the cost of one request. A side that was not measured is nil.
type Point struct {
	Policies int           `json:"policies"`
	Upstream *measure.Cost `json:"upstream,omitempty"`
	Celador  *measure.Cost `json:"celador,omitempty"`
}

// Add computes the ratio of a row, compares the row with its target, and adds it.
func (r *Report) Add(row Row) {
	if row.Celador > 0 {
		row.Ratio = row.Upstream / row.Celador
	}
	if row.Target.Times > 0 {
		row.Met = row.Upstream >= row.Target.Times*row.Celador
	} else {
		row.Met = row.Celador <= row.Target.Max
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
