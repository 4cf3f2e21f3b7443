// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package promql finds the metrics and labels that PromQL expressions read. It parses the part of
// PromQL that the dashboards and rules of this repository use; promtool checks the rest.
package promql

import (
	"regexp"
	"slices"
)

// A Selector is a metric that an expression reads.
type Selector struct {
	Metric   string
	Matchers []Matcher
	// Labels are the labels that the series of the metric must have, sorted and without duplicates:
	// those of matchers, and those by which the expression aggregates the series or matches them
	// with others.
	Labels []string
}

// Selects reports whether the selector selects a series with these labels. A series that lacks a
// label that the expression needs is not selected.
func (s Selector) Selects(labels map[string]string) bool {
	for _, label := range s.Labels {
		if _, ok := labels[label]; !ok {
			return false
		}
	}
	for _, m := range s.Matchers {
		if !m.Matches(labels[m.Label]) {
			return false
		}
	}
	return true
}

// A Matcher selects series by the value of a label.
type Matcher struct {
	Label string
	// Operator is =, !=, =~ or !~.
	Operator, Value string
}

// Matches reports whether the matcher selects series whose label has the value. It panics if the
// operator is =~ or !~ and the value of the matcher is no regular expression.
func (m Matcher) Matches(value string) bool {
	switch m.Operator {
	case "=":
		return value == m.Value
	case "!=":
		return value != m.Value
	}
	return regexp.MustCompile("^(?s:"+m.Value+")$").MatchString(value) == (m.Operator == "=~")
}

// Expression is a parsed expression.
type Expression struct {
	// Selectors are the selectors in the order of the text.
	Selectors []Selector
	// Labels are the labels of the result if it is an aggregation by labels, or calculated from
	// one. Otherwise they are nil, and the result has all labels of its metric.
	Labels []string
}

// Parse parses an expression. It returns an error that quotes the rest of the text if the
// expression is not in the supported part of PromQL.
func Parse(text string) (Expression, error) {
	tokens, err := scan(text)
	if err != nil {
		return Expression{}, err
	}
	p := &parser{text: text, tokens: tokens}
	parsed, err := p.expression()
	if err == nil && p.next().kind != end {
		err = p.unexpected()
	}
	if err != nil {
		return Expression{}, err
	}
	for i := range parsed.Selectors {
		labels := &parsed.Selectors[i].Labels
		slices.Sort(*labels)
		*labels = slices.Compact(*labels)
	}
	return parsed, nil
}

// require adds labels to those that the series of each selector must have.
func (e *Expression) require(labels []string) {
	for i := range e.Selectors {
		e.Selectors[i].Labels = append(e.Selectors[i].Labels, labels...)
	}
}
