// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// A Unit is the unit of a figure.
type Unit string

// The units of figures. Times is the unit of ratios. Larger figures are better for PerSecond and
// Percent only.
const (
	Nanoseconds Unit = "ns"
	Allocations Unit = "allocs"
	Bytes       Unit = "B"
	Times       Unit = "x"
	PerSecond   Unit = "/s"
	Percent     Unit = "%"
)

func (u Unit) moreIsBetter() bool { return u == PerSecond || u == Percent }

// A scale holds the names of a unit and of its multiples. Each is as many of the previous one as
// times says, such as 1000 ns in a µs.
type scale struct {
	times float64
	names []string
}

var scales = map[Unit]scale{
	Nanoseconds: {1000, []string{"ns", "µs", "ms", "s"}},
	Bytes:       {1024, []string{"B", "KiB", "MiB", "GiB"}},
}

// Format returns a figure with three significant digits in a suitable unit.
func (u Unit) Format(figure float64) string {
	if figure < 0 {
		return "-" + u.Format(-figure)
	}
	s, ok := scales[u]
	if !ok {
		return digits(figure) + " " + string(u)
	}
	name := 0
	for figure >= s.times && name < len(s.names)-1 {
		figure /= s.times
		name++
	}
	return digits(figure) + " " + s.names[name]
}

// digits returns at least three significant digits, without trailing zeros in a fraction.
func digits(figure float64) string {
	precision := 0
	for limit := 100.0; figure < limit && precision < 2; limit /= 10 {
		precision++
	}
	text := strconv.FormatFloat(figure, 'f', precision, 64)
	if short := strconv.FormatFloat(figure, 'f', 0, 64); precision > 0 && text == short+".00"[:precision+1] {
		return short
	}
	return text
}

func (t Target) format(unit Unit) string {
	switch {
	case t.Times > 0:
		return "at least " + digits(t.Times) + "x"
	case t.Max != nil:
		return "at most " + unit.Format(*t.Max)
	case t.Min > 0:
		return "at least " + unit.Format(t.Min)
	}
	return "-"
}

func (r *Row) ratio() string {
	switch {
	case r.BelowNoise:
		return "below noise"
	case r.Ratio == 0:
		return "-"
	}
	return FormatRatio(r.Ratio)
}

// FormatRatio returns a ratio with three significant digits, such as 21.5x.
func FormatRatio(times float64) string { return digits(times) + "x" }

func (r *Row) verdict() string {
	switch {
	case r.Target == Target{}:
		return "-"
	case r.Met:
		return "met"
	}
	return "missed"
}

// WriteTable writes the table, and the number of met targets as the last line.
func (r *Report) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "scenario\tupstream\tcelador\tratio\ttarget\tverdict")
	for _, row := range r.Rows {
		fmt.Fprintf(table, "%s %s\t%s\t%s\t%s\t%s\t%s\n", row.Scenario, row.About,
			row.Unit.Format(row.Upstream), row.Unit.Format(row.Celador), row.ratio(), row.Target.format(row.Unit), row.verdict())
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	fmt.Fprintln(w)
	for _, row := range r.Rows {
		if row.Note != "" {
			fmt.Fprintf(w, "%s %s: %s\n", row.Scenario, row.About, row.Note)
		}
	}
	_, err := fmt.Fprintf(w, "targets met: %d of %d\n", r.Met, r.Targets)
	return err
}
