// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package warningtext makes texts fit for the Warning header of an HTTP response.
package warningtext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of returns a text that a Warning header can carry. API servers drop a warning with a control
// character, such as a line break or a tab, or with invalid UTF-8, and do not tell anybody. Of
// collapses white space with a line break or another control character into one space, and replaces
// other control characters and invalid bytes by U+FFFD. It does not change other texts.
func Of(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var result strings.Builder
	for len(text) > 0 {
		if end := strings.IndexFunc(text, notSpace); end != 0 {
			if end < 0 {
				end = len(text)
			}
			space := text[:end]
			if strings.ContainsFunc(space, unicode.IsControl) {
				space = " "
			}
			result.WriteString(space)
			text = text[end:]
			continue
		}
		// DecodeRune returns U+FFFD for an invalid byte.
		r, size := utf8.DecodeRuneInString(text)
		if unicode.IsControl(r) {
			r = utf8.RuneError
		}
		result.WriteRune(r)
		text = text[size:]
	}
	return strings.TrimSpace(result.String())
}

func notSpace(r rune) bool { return !unicode.IsSpace(r) }
