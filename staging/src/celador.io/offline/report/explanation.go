// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"celador.io/offline/suite"
)

// explain returns lines that show why an expression has its value: a line with the position and the
// text of the expression, a line that marks the part that makes it false or an error, and a line
// for each value in this part.
func explain(e suite.Expression) []string {
	text := strings.Join(strings.Fields(e.Text), " ")
	place := e.Position.String() + ": "
	lines := []string{place + text}
	x := e.Explanation
	if x == nil {
		return lines
	}
	if start, length, found := find(text, x.Part); found {
		lines = append(lines, strings.Repeat(" ", utf8.RuneCountInString(place)+start)+strings.Repeat("^", length)+" is "+x.Value)
	} else {
		lines = append(lines, x.Part+" is "+x.Value)
	}
	for _, v := range x.Values {
		lines = append(lines, v.Text+" is "+v.Value)
	}
	return lines
}

// find returns the position and the length of a part in the text of an expression, in runes, so
// that the part can be marked. It finds a part only if it occurs exactly once. The part is
// generated from the syntax tree, with double quotes, where the text may have single quotes.
func find(text, part string) (start, length int, found bool) {
	for _, candidate := range []string{part, strings.ReplaceAll(part, `"`, "'")} {
		if before, _, found := strings.Cut(text, candidate); found && strings.Count(text, candidate) == 1 {
			return utf8.RuneCountInString(before), utf8.RuneCountInString(candidate), true
		}
	}
	return 0, 0, false
}

// explainInLine returns the same information as explain, but as a single line, for formats in which
// a failure is a list of messages.
func explainInLine(e suite.Expression) string {
	line := fmt.Sprintf("%s: %s", e.Position, strings.Join(strings.Fields(e.Text), " "))
	x := e.Explanation
	if x == nil {
		return line
	}
	if x.Part != x.Text {
		line += ": " + x.Part
	}
	line += " is " + x.Value
	for i, v := range x.Values {
		line += map[bool]string{true: ", because ", false: ", "}[i == 0] + v.Text + " is " + v.Value
	}
	return line
}
