// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"celador.io/offline/suite"
)

// explain returns the lines that show an expression: the expression itself, and below it the part
// that decides and the values of its parts.
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

// find returns where a part stands in the text of an expression, in runes. The text may have single
// quotes where the part has double ones.
func find(text, part string) (start, length int, found bool) {
	for _, candidate := range []string{part, strings.ReplaceAll(part, `"`, "'")} {
		if before, _, found := strings.Cut(text, candidate); found && strings.Count(text, candidate) == 1 {
			return utf8.RuneCountInString(before), utf8.RuneCountInString(candidate), true
		}
	}
	return 0, 0, false
}

// explainInLine returns what explain returns in one line.
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
