// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package promql

import (
	"fmt"
	"regexp"
	"strings"
)

type tokenKind int

const (
	end tokenKind = iota
	name
	number
	quoted
	// duration is a range or subquery in square brackets, such as [5m] or [$__rate_interval].
	duration
	// symbol is an operator, a parenthesis, a brace or a comma.
	symbol
)

type token struct {
	kind tokenKind
	text string
	// at is the position in the expression.
	at int
}

// patterns match the tokens of each kind. The first pattern that matches wins.
var patterns = []struct {
	kind    tokenKind
	pattern *regexp.Regexp
}{
	{name, regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)},
	{number, regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(e-?[0-9]+)?`)},
	{quoted, regexp.MustCompile(`^"([^"\\]|\\.)*"`)},
	{duration, regexp.MustCompile(`^\[[a-zA-Z0-9_$:]+\]`)},
	{symbol, regexp.MustCompile(`^(==|!=|>=|<=|=~|!~|[-+*/%^<>=(){},])`)},
}

// scan splits an expression into tokens. The last token has the kind end.
func scan(text string) ([]token, error) {
	var tokens []token
	at := 0
next:
	for {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\n"))
		if at == len(text) {
			return append(tokens, token{kind: end, at: at}), nil
		}
		for _, p := range patterns {
			if found := p.pattern.FindString(text[at:]); found != "" {
				tokens = append(tokens, token{p.kind, found, at})
				at += len(found)
				continue next
			}
		}
		return nil, fmt.Errorf("no token of PromQL at %q", text[at:])
	}
}
