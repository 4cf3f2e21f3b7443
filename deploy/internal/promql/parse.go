// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is the maximum depth of nested parentheses, which bounds the stack.
const maxDepth = 100

type parser struct {
	text   string
	tokens []token
	depth  int
}

func (p *parser) next() token { return p.tokens[0] }

// take removes the next token and returns it. It must not be called at the end.
func (p *parser) take() token {
	taken := p.tokens[0]
	p.tokens = p.tokens[1:]
	return taken
}

// accept removes the next token and returns true if the token has one of the texts and is not a
// string.
func (p *parser) accept(texts ...string) bool {
	if next := p.next(); next.kind == end || next.kind == quoted || !slices.Contains(texts, next.text) {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(text string) error {
	if !p.accept(text) {
		return fmt.Errorf("%w, want %q", p.unexpected(), text)
	}
	return nil
}

func (p *parser) unexpected() error {
	if p.next().kind == end {
		return fmt.Errorf("unexpected end of %q", p.text)
	}
	return fmt.Errorf("unexpected %q", p.text[p.next().at:])
}

// operators are the binary operators. The parser ignores their precedence, because it only collects
// what their operands read.
var operators = []string{"+", "-", "*", "/", "%", "^", "==", "!=", ">", "<", ">=", "<=", "and", "or", "unless"}

// expression parses operands with operators between them. The result has the selectors of all
// operands, and the labels of the first operand.
func (p *parser) expression() (Expression, error) {
	if p.depth++; p.depth > maxDepth {
		return Expression{}, fmt.Errorf("more than %d nested parentheses in %q", maxDepth, p.text)
	}
	defer func() { p.depth-- }()
	result, err := p.operand()
	for err == nil && p.accept(operators...) {
		p.accept("bool")
		var on []string
		if on, err = p.matching(); err != nil {
			break
		}
		var right Expression
		right, err = p.operand()
		result.Selectors = append(result.Selectors, right.Selectors...)
		result.require(on)
	}
	return result, err
}

// matching parses the modifiers after a binary operator that say which series of the two sides
// belong together, such as "on(job) group_left". It returns the labels in "on", which the series of
// both sides must have.
func (p *parser) matching() (on []string, err error) {
	switch {
	case p.accept("on"):
		on, err = p.names()
	case p.accept("ignoring"):
		_, err = p.names()
	}
	if err == nil && p.accept("group_left", "group_right") && p.next().text == "(" {
		_, err = p.names()
	}
	return on, err
}

// operand parses a number, a string, a selector, a call or an expression in parentheses, with its
// range and offset.
func (p *parser) operand() (result Expression, err error) {
	p.accept("-")
	switch next := p.next(); {
	case next.kind == number || next.kind == quoted:
		p.take()
		return Expression{}, nil
	case p.accept("("):
		if result, err = p.expression(); err == nil {
			err = p.expect(")")
		}
	case next.kind == name:
		p.take()
		result, err = p.named(next.text)
	case next.text == "{":
		return Expression{}, fmt.Errorf("%w: write the name of the metric before the braces", p.unexpected())
	default:
		return Expression{}, p.unexpected()
	}
	if err == nil && p.next().kind == duration {
		p.take()
	}
	return result, err
}

// aggregations are the functions whose result has no labels unless they are grouped.
var aggregations = []string{"sum", "min", "max", "avg", "count"}

// named parses what follows a name: an aggregation, a call or a selector.
func (p *parser) named(name string) (Expression, error) {
	switch p.next().text {
	case "by", "without":
		grouping, err := p.grouping()
		if err != nil {
			return Expression{}, err
		}
		result, err := p.arguments()
		grouping(&result)
		return result, err
	case "(":
		result, err := p.arguments()
		switch {
		case err != nil:
		case p.next().text == "by" || p.next().text == "without":
			var grouping func(*Expression)
			if grouping, err = p.grouping(); err == nil {
				grouping(&result)
			}
		case slices.Contains(aggregations, name):
			result.Labels = []string{}
		case name == "histogram_quantile":
			result.Labels = slices.DeleteFunc(result.Labels, func(label string) bool { return label == "le" })
		}
		return result, err
	case "{":
		selector, err := p.matchers(name)
		return Expression{Selectors: []Selector{selector}}, err
	}
	return Expression{Selectors: []Selector{{Metric: name}}}, nil
}

// grouping parses "by" or "without" with labels. It returns a function that applies the grouping to
// an Expression: with "by", the series that the expression reads must have the labels, and the
// result has only these labels.
func (p *parser) grouping() (func(*Expression), error) {
	by := p.take().text == "by"
	labels, err := p.names()
	return func(e *Expression) {
		if by {
			e.require(labels)
			e.Labels = append([]string{}, labels...)
		}
	}, err
}

// arguments parses the arguments of a call in parentheses. The result has the selectors of all
// arguments, and the labels of the last argument that reads a metric.
func (p *parser) arguments() (result Expression, err error) {
	if err := p.expect("("); err != nil {
		return Expression{}, err
	}
	for !p.accept(")") {
		argument, err := p.expression()
		if err != nil {
			return Expression{}, err
		}
		result.Selectors = append(result.Selectors, argument.Selectors...)
		if len(argument.Selectors) > 0 {
			result.Labels = argument.Labels
		}
		if p.next().text != ")" {
			if err := p.expect(","); err != nil {
				return Expression{}, err
			}
		}
	}
	return result, nil
}

// names parses names in parentheses.
func (p *parser) names() (names []string, err error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	for !p.accept(")") {
		if p.next().kind != name {
			return nil, p.unexpected()
		}
		names = append(names, p.take().text)
		if p.next().text != ")" {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// matchers parses the matchers of a selector.
func (p *parser) matchers(metric string) (s Selector, err error) {
	s.Metric = metric
	if err := p.expect("{"); err != nil {
		return s, err
	}
	for !p.accept("}") {
		if p.next().kind != name {
			return s, p.unexpected()
		}
		m := Matcher{Label: p.take().text, Operator: p.next().text}
		if !p.accept("=", "!=", "=~", "!~") || p.next().kind != quoted {
			return s, p.unexpected()
		}
		text := p.take().text
		if m.Value, err = strconv.Unquote(text); err != nil {
			return s, fmt.Errorf("string %s: %w", text, err)
		}
		if _, err := regexp.Compile(m.Value); err != nil && strings.Contains(m.Operator, "~") {
			return s, err
		}
		s.Matchers, s.Labels = append(s.Matchers, m), append(s.Labels, m.Label)
		if p.next().text != "}" {
			if err := p.expect(","); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}
