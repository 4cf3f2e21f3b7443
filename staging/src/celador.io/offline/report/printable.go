// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable replaces the control characters of a text by their escape sequences, so that names and
// messages do not control the terminal. They include the Unicode characters that change the
// direction of text. Newlines and tabs are kept.
func Printable(text string) string {
	var out strings.Builder
	for _, r := range text {
		if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && r != '\n' && r != '\t' {
			out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// printableLine returns the text in one line, without control characters.
func printableLine(text string) string {
	return Printable(strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text))
}
