// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ruleerror makes errors in the rules of a CustomResourceDefinition readable.
package ruleerror

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// maxErrors is how many errors of the type checker are shown for one rule. Each repeats a line
	// of the expression.
	maxErrors = 3
	// maxLine is the longest line of an expression that is shown as a whole, in characters. Of a
	// longer one, the part around the error is shown.
	maxLine = 160
	// maxMessage is the length at which a message is cut off, in characters.
	maxMessage = 500
	// before is the number of characters that are shown before the error in a line that is cut.
	before = 60
)

// Shorten shortens the errors of the type checker for one expression: of many errors it keeps the
// first ones, of a long line the part around the error. Where the type checker writes wrapper(T),
// for the nullable type of a constructed object, Shorten writes T.
func Shorten(detail string) string {
	detail = nullable.ReplaceAllString(detail, "$1")
	const start = "\nERROR: "
	parts := strings.Split(detail, start)
	more := ""
	if len(parts) > maxErrors {
		more = fmt.Sprintf("\n... and %d more errors", len(parts)-maxErrors)
		parts = parts[:maxErrors]
	}
	for i := range parts {
		parts[i] = shortenLines(parts[i])
	}
	return strings.Join(parts, start) + more
}

// nullable matches wrapper(T), which is how the type checker writes nullable types. The types of
// constructed objects are nullable. T may contain parentheses, as in object(v1).spec.
var nullable = regexp.MustCompile(`wrapper\(((?:[^()]|\([^()]*\))*)\)`)

// Abbreviate cuts off a long text, such as a rule, so that an error can repeat it.
func Abbreviate(text string) string {
	const limit = 200
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}

// List joins texts with a separator. If there are more texts than most, it joins only the first
// ones, and appends how many are left out, and of which kind, such as " fields".
func List(texts []string, most int, separator, kind string) string {
	if len(texts) <= most {
		return strings.Join(texts, separator)
	}
	return fmt.Sprintf("%s and %d more%s", strings.Join(texts[:most], separator), len(texts)-most, kind)
}

// shortenLines cuts long messages and long lines. The type checker's error repeats the line of the
// expression, with dots below it that lead to the position of the error; both are cut.
func shortenLines(text string) string {
	const margin = " | "
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		expression, ok := strings.CutPrefix(line, margin)
		switch {
		case !ok:
			lines[i] = cut(line, 0, maxMessage)
		case utf8.RuneCountInString(expression) > maxLine && i+1 < len(lines) && strings.HasPrefix(lines[i+1], margin):
			// There is one dot for each character before the position, as wide as the character.
			marker := lines[i+1][len(margin):]
			from := max(utf8.RuneCountInString(marker)-1-before, 0)
			lines[i] = margin + cut(expression, from, maxLine)
			lines[i+1] = margin + cut(marker, from, maxLine)
		default:
			lines[i] = margin + cut(expression, 0, maxLine)
		}
	}
	return strings.Join(lines, "\n")
}

// cut returns at most length characters of a text, from an index on, with dots where it has left
// out others.
func cut(text string, from, length int) string {
	characters := []rune(text)
	from = min(from, max(len(characters)-1, 0))
	to := min(from+length, len(characters))
	part := string(characters[from:to])
	if from > 0 {
		part = "..." + part
	}
	if to < len(characters) {
		part += "..."
	}
	return part
}

// WithAdvice returns the error of an evaluation, with advice on the rule if the mistake is a common
// one. The result wraps err.
func WithAdvice(err error) error {
	for _, common := range []struct{ prefix, advice string }{
		{"no such key", "it is unset in this object; ask with has(...) first, or read it with .? and orValue(...)"},
		{"index out of bounds", "the list has fewer items in this object; ask for size(...) first, or read the item with [?...] and orValue(...)"},
		{"type conversion error from 'string'", "the text is not one of that type in this object; ask with matches(...) first"},
	} {
		if strings.HasPrefix(err.Error(), common.prefix) {
			return fmt.Errorf("%w (%s)", err, common.advice)
		}
	}
	return err
}
