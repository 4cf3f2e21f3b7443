// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package warningtext makes texts fit for the Warning header of an HTTP response.
package warningtext

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// brokenSpace matches white space with a control character.
var brokenSpace = regexp.MustCompile(`[\t-\r\x{85}\pZ]*[\t-\r\x{85}][\t-\r\x{85}\pZ]*`)

// Of returns a text that a Warning header can carry. API servers drop a warning with a control
// character, such as a line break or a tab, or with invalid UTF-8, and do not tell anybody. Of
// collapses white space with a line break or another control character into one space, and replaces
// other control characters and invalid bytes by U+FFFD. It does not change other texts.
func Of(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r // utf8.RuneError for an invalid byte
	}, brokenSpace.ReplaceAllString(text, " ")))
}
