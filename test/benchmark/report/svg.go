// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"celador.io/celador/test/benchmark/measure"
)

// The size of the chart and of its plot area, in pixels.
const (
	width, height = 860, 520
	left, right   = 90, 660
	top, bottom   = 60, 450
	labelHeight   = 16
)

// dashes holds the line styles of the series.
var dashes = []string{"6 4", "none"}

// A line is the cost with one plugin in one series.
type line struct {
	Label, Color, Dash string
	Dots               []dot
	Y                  float64 // of the label
}

type dot struct {
	X, Y  float64
	Title string
}

type tick struct {
	At    float64
	Label string
}

// An axis maps figures to pixels on a logarithmic scale.
type axis struct{ low, high, from, to float64 }

func (a axis) at(figure float64) float64 {
	share := (math.Log10(figure) - math.Log10(a.low)) / (math.Log10(a.high) - math.Log10(a.low))
	return math.Round((a.from+share*(a.to-a.from))*10) / 10
}

func (a axis) ticks(label func(float64) string) []tick {
	var ticks []tick
	for figure := a.low; figure <= a.high*1.001; figure *= 10 {
		ticks = append(ticks, tick{a.at(figure), label(figure)})
	}
	return ticks
}

// WriteSVG draws the series: the cost of one request over the number of policies, on logarithmic
// axes.
func (r *Report) WriteSVG(w io.Writer) error {
	x, y := r.axes()
	var lines []line
	for i, series := range r.Series {
		for _, l := range []line{
			{Label: "upstream, " + series.Name, Color: "#c0392b", Dots: dots(series, x, y, func(p Point) *measure.Cost { return p.Upstream })},
			{Label: "celador, " + series.Name, Color: "#1f6fb2", Dots: dots(series, x, y, func(p Point) *measure.Cost { return p.Celador })},
		} {
			if len(l.Dots) == 0 {
				continue
			}
			l.Dash, l.Y = dashes[i%len(dashes)], l.Dots[len(l.Dots)-1].Y
			lines = append(lines, l)
		}
	}
	spread(lines)
	err := chart.Execute(w, map[string]any{
		"Width": width, "Height": height, "Left": left, "Right": right, "Top": top, "Bottom": bottom,
		"Lines":  lines,
		"X":      x.ticks(func(policies float64) string { return thousands(int(math.Round(policies))) }),
		"Y":      y.ticks(Nanoseconds.Format),
		"Footer": fmt.Sprintf("%s, %d CPUs, %s", r.Environment.CPU, r.Environment.CPUs, r.Environment.Go),
	})
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	return nil
}

// axes returns axes that start and end at powers of ten and include all points.
func (r *Report) axes() (x, y axis) {
	x = axis{low: 1, high: 10, from: left, to: right}
	y = axis{low: math.Inf(1), high: 0, from: bottom, to: top}
	for _, series := range r.Series {
		for _, point := range series.Points {
			x.high = max(x.high, float64(point.Policies))
			for _, cost := range []*measure.Cost{point.Upstream, point.Celador} {
				if cost != nil {
					y.low, y.high = min(y.low, cost.Nanoseconds), max(y.high, cost.Nanoseconds)
				}
			}
		}
	}
	power := func(figure float64, round func(float64) float64) float64 {
		return math.Pow(10, round(math.Log10(figure)))
	}
	x.high = power(x.high, math.Ceil)
	if y.low > y.high { // no points
		y.low, y.high = 1, 1
	}
	y.low, y.high = power(y.low, math.Floor), power(y.high, math.Ceil)
	y.high = max(y.high, 10*y.low)
	return x, y
}

// dots returns a dot for each point that was measured with the plugin.
func dots(series Series, x, y axis, of func(Point) *measure.Cost) []dot {
	var result []dot
	for _, point := range series.Points {
		if cost := of(point); cost != nil {
			title := fmt.Sprintf("policies: %s, cost: %s", thousands(point.Policies), Nanoseconds.Format(cost.Nanoseconds))
			result = append(result, dot{x.at(float64(point.Policies)), y.at(cost.Nanoseconds), title})
		}
	}
	return result
}

// spread moves overlapping labels apart.
func spread(lines []line) {
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.Y, b.Y) })
	for i := 1; i < len(lines); i++ {
		lines[i].Y = max(lines[i].Y, lines[i-1].Y+labelHeight)
	}
}

// thousands formats a number with separators, such as 10,000.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

var chart = template.Must(template.New("chart").Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" viewBox="0 0 {{.Width}} {{.Height}}" font-family="sans-serif" font-size="13" fill="#333">
<rect width="100%" height="100%" fill="white"/>
<text x="{{.Left}}" y="32" font-size="17">Cost of one request against the number of policies</text>
{{- range .X}}
<line x1="{{.At}}" y1="{{$.Top}}" x2="{{.At}}" y2="{{$.Bottom}}" stroke="#ddd"/>
<text x="{{.At}}" y="{{$.Bottom}}" dy="20" text-anchor="middle">{{.Label}}</text>
{{- end}}
{{- range .Y}}
<line x1="{{$.Left}}" y1="{{.At}}" x2="{{$.Right}}" y2="{{.At}}" stroke="#ddd"/>
<text x="{{$.Left}}" y="{{.At}}" dx="-8" dy="4" text-anchor="end">{{.Label}}</text>
{{- end}}
<text x="{{.Left}}" y="{{.Bottom}}" dy="44" fill="#777">policies; {{.Footer}}</text>
{{- range $line := .Lines}}
<polyline points="{{range .Dots}}{{.X}},{{.Y}} {{end}}" fill="none" stroke="{{.Color}}" stroke-width="2" stroke-dasharray="{{.Dash}}"/>
{{- range .Dots}}
<circle cx="{{.X}}" cy="{{.Y}}" r="4" fill="{{$line.Color}}"><title>{{.Title}}</title></circle>
{{- end}}
<text x="{{$.Right}}" y="{{.Y}}" dx="10" dy="4" fill="{{.Color}}">{{.Label}}</text>
{{- end}}
</svg>
`))
