// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

// A drawing is the part of a chart that tests read from its XML.
type drawing struct {
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
	Texts  []struct {
		Text string `xml:",chardata"`
	} `xml:"text"`
	Lines []struct {
		Points string `xml:"points,attr"`
	} `xml:"polyline"`
	Dots []struct {
		X     float64 `xml:"cx,attr"`
		Y     float64 `xml:"cy,attr"`
		Title string  `xml:"title"`
	} `xml:"circle"`
}

func draw(t *testing.T, write func(io.Writer) error) drawing {
	t.Helper()
	var buffer bytes.Buffer
	if err := write(&buffer); err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(bytes.NewReader(buffer.Bytes())); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v:\n%s", err, buffer.String())
		}
	}
	var d drawing
	if err := xml.Unmarshal(buffer.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWriteSVG(t *testing.T) {
	d := draw(t, sample().WriteSVG)
	if len(d.Lines) != 4 {
		t.Errorf("%d lines for two plugins in two series", len(d.Lines))
	}
	var titles []string
	for _, dot := range d.Dots {
		if dot.X < 0 || dot.X > d.Width || dot.Y < 0 || dot.Y > d.Height {
			t.Errorf("%q is outside, at %v,%v", dot.Title, dot.X, dot.Y)
		}
		titles = append(titles, dot.Title)
	}
	want := []string{
		"policies: 1, cost: 63.5 µs", "policies: 1,000, cost: 97.5 ms",
		"policies: 1, cost: 5 µs", "policies: 1,000, cost: 5 ms",
		"policies: 1, cost: 3.05 µs", "policies: 1,000, cost: 1.02 ms",
		"policies: 1, cost: 150 ns", "policies: 1,000, cost: 160 ns", "policies: 10,000, cost: 155 ns",
	}
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Errorf("dots (-want +got):\n%s", diff)
	}
	// Higher costs are further up, larger numbers of policies further to the right.
	if first, second := d.Dots[0], d.Dots[1]; first.X >= second.X || first.Y <= second.Y {
		t.Errorf("%+v and %+v are in the wrong places", first, second)
	}
	shown := map[string]bool{}
	for _, text := range d.Texts {
		shown[text.Text] = true
	}
	for _, label := range []string{"upstream, none match", "celador, all match", "1", "10,000", "100 ns", "1 ms", `policies; A <fast> one & "more", 2 CPUs, go1.26`} {
		if !shown[label] {
			t.Errorf("no text %q among %v", label, shown)
		}
	}
}

// A chart of few or equal points has axes, too.
func TestWriteSVGOfLittle(t *testing.T) {
	cost := &measure.Cost{Nanoseconds: 1000}
	one := []report.Point{{Policies: 1, Upstream: cost, Celador: cost}}
	for name, points := range map[string][]report.Point{"one point": one, "no points": nil, "equal points": {one[0], one[0]}} {
		r := &report.Report{Series: []report.Series{{Name: "few", Points: points}}}
		d := draw(t, r.WriteSVG)
		if len(d.Dots) != 2*len(points) {
			t.Errorf("%s: %d dots", name, len(d.Dots))
		}
		for _, dot := range d.Dots {
			if !(dot.X >= 0 && dot.X <= d.Width && dot.Y >= 0 && dot.Y <= d.Height) {
				t.Errorf("%s: a dot at %v,%v", name, dot.X, dot.Y)
			}
		}
	}
}

func TestWriteThroughputSVG(t *testing.T) {
	r := &report.Report{Throughput: []report.Rates{
		{Policies: 0, Upstream: 400, Celador: 410},
		{Policies: 1000, Upstream: 0, Celador: 90},
	}}
	d := draw(t, r.WriteThroughputSVG)
	var titles []string
	for _, dot := range d.Dots {
		titles = append(titles, dot.Title)
		if !(dot.X >= 0 && dot.X <= d.Width && dot.Y >= 0 && dot.Y <= d.Height) {
			t.Errorf("%q is outside, at %v,%v", dot.Title, dot.X, dot.Y)
		}
	}
	// A rate of zero has no place on a logarithmic axis.
	want := []string{"policies: 0, rate: 400 /s", "policies: 0, rate: 410 /s", "policies: 1,000, rate: 90 /s"}
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Errorf("dots (-want +got):\n%s", diff)
	}
	shown := map[string]bool{}
	for _, text := range d.Texts {
		shown[text.Text] = true
	}
	for _, label := range []string{"0", "1", "1,000", "100 /s", "upstream", "celador"} {
		if !shown[label] {
			t.Errorf("no text %q among %v", label, shown)
		}
	}
}
