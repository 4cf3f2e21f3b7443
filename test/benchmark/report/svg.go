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
)

// The size of the chart and of its plot area, in pixels.
const (
	width, height = 860, 520
	left, right   = 90, 660
	top, bottom   = 60, 450
	labelHeight   = 16
)

// dashes holds the line styles by which the series are told apart. Colors tell upstream and Celador
// apart.
var dashes = []string{"6 4", "none"}

// A line is a curve in pixels, as the template of the chart draws it.
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

// An axis maps figures between low and high to pixels between from and to, on a logarithmic scale.
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

// A chart shows figures against numbers of policies, on logarithmic axes.
type chart struct {
	title string
	// name is the word for the figures, such as cost, in the texts that appear over dots.
	name   string
	unit   Unit
	curves []curve
}

// A curve holds the figures of upstream or Celador in one series.
type curve struct {
	label, color, dash string
	points             []point
}

type point struct {
	policies int
	figure   float64
}

// The colors of upstream's and Celador's curves.
const (
	upstreamColor = "#c0392b"
	celadorColor  = "#1f6fb2"
)

// WriteSVG draws the series: the cost of one request over the number of policies.
func (r *Report) WriteSVG(w io.Writer) error {
	c := chart{title: "Cost of one request against the number of policies", name: "cost", unit: Nanoseconds}
	for i, series := range r.Series {
		upstream := curve{label: "upstream, " + series.Name, color: upstreamColor, dash: dashes[i%len(dashes)]}
		celador := curve{label: "celador, " + series.Name, color: celadorColor, dash: dashes[i%len(dashes)]}
		for _, p := range series.Points {
			if p.Upstream != nil {
				upstream.points = append(upstream.points, point{p.Policies, p.Upstream.Nanoseconds})
			}
			if p.Celador != nil {
				celador.points = append(celador.points, point{p.Policies, p.Celador.Nanoseconds})
			}
		}
		c.curves = append(c.curves, upstream, celador)
	}
	return c.write(w, r.Environment)
}

// WriteThroughputSVG draws the throughput over the number of policies.
func (r *Report) WriteThroughputSVG(w io.Writer) error {
	c := chart{title: "POSTs a second of a saturated server against the number of policies", name: "rate", unit: PerSecond}
	upstream := curve{label: "upstream", color: upstreamColor, dash: "none"}
	celador := curve{label: "celador", color: celadorColor, dash: "none"}
	for _, rates := range r.Throughput {
		upstream.points = append(upstream.points, point{rates.Policies, rates.Upstream})
		celador.points = append(celador.points, point{rates.Policies, rates.Celador})
	}
	c.curves = []curve{upstream, celador}
	return c.write(w, r.Environment)
}

func (c *chart) write(w io.Writer, environment Environment) error {
	x, y := c.axes()
	var lines []line
	for _, curve := range c.curves {
		l := line{Label: curve.label, Color: curve.color, Dash: curve.dash}
		for _, p := range curve.points {
			if p.figure <= 0 {
				continue // has no place on a logarithmic axis
			}
			title := fmt.Sprintf("policies: %s, %s: %s", thousands(p.policies), c.name, c.unit.Format(p.figure))
			l.Dots = append(l.Dots, dot{x.at(place(p.policies)), y.at(p.figure), title})
		}
		if len(l.Dots) > 0 {
			l.Y = l.Dots[len(l.Dots)-1].Y
			lines = append(lines, l)
		}
	}
	spread(lines)
	err := drawing.Execute(w, map[string]any{
		"Width": width, "Height": height, "Left": left, "Right": right, "Top": top, "Bottom": bottom,
		"Title": c.title, "Lines": lines,
		"X":      x.ticks(func(place float64) string { return thousands(int(math.Round(place))) }),
		"Y":      y.ticks(c.unit.Format),
		"Footer": fmt.Sprintf("%s, %d CPUs, %s", environment.CPU, environment.CPUs, environment.Go),
	})
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	return nil
}

// place returns where a number of policies stands on the axis. Zero has no place on a logarithmic
// axis, so it is drawn at 0.1.
func place(policies int) float64 { return max(float64(policies), 0.1) }

// axes returns axes that start and end at powers of ten and include all points.
func (c *chart) axes() (x, y axis) {
	x = axis{low: 1, high: 10, from: left, to: right}
	y = axis{low: math.Inf(1), high: 0, from: bottom, to: top}
	for _, curve := range c.curves {
		for _, p := range curve.points {
			x.low, x.high = min(x.low, place(p.policies)), max(x.high, place(p.policies))
			if p.figure > 0 {
				y.low, y.high = min(y.low, p.figure), max(y.high, p.figure)
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

// spread moves the labels of lines apart that would overlap.
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

var drawing = template.Must(template.New("chart").Parse(`<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" viewBox="0 0 {{.Width}} {{.Height}}" font-family="sans-serif" font-size="13" fill="#333">
<rect width="100%" height="100%" fill="white"/>
<text x="{{.Left}}" y="32" font-size="17">{{.Title}}</text>
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
