// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
)

const (
	// maxIssues is how many issues of an expression cel-go lists. It counts the others.
	maxIssues = 100
	// maxShown is how many issues a message shows.
	maxShown = 10
	// maxMessage is how many bytes of them a message shows.
	maxMessage = 8 << 10
)

// failed is issues.Err() != nil, which makes the whole text of all issues.
func failed(issues *cel.Issues) bool { return len(issues.Errors()) > 0 }

// full tells whether there may be issues that are not listed.
func full(issues *cel.Issues) bool { return len(issues.Errors()) >= maxIssues }

// messageOf returns the text of issues in a source: that of cel-go, as long as it is short.
// Otherwise it ends with what is left out.
func messageOf(source common.Source, issues *cel.Issues) string {
	errs := slices.Clone(issues.Errors())
	slices.SortStableFunc(errs, func(a, b *common.Error) int {
		return cmp.Or(cmp.Compare(a.Location.Line(), b.Location.Line()), cmp.Compare(a.Location.Column(), b.Location.Column()))
	})
	text, shown := "", 0
	for shown < min(len(errs), maxShown) && len(text) <= maxMessage {
		if shown > 0 {
			text += "\n"
		}
		text += errs[shown].ToDisplayString(quotable{source})
		shown++
	}
	if len(text) > maxMessage {
		end := maxMessage
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + " ..."
	}
	switch more := len(errs) - shown; {
	case more > 0 && full(issues):
		text += fmt.Sprintf("\n... errors left out: %d or more", more)
	case more > 0:
		text += fmt.Sprintf("\n... errors left out: %d", more)
	}
	return text
}

// quotable is a source without the lines that would take a whole message: a line is quoted
// with another one below it, which cel-go makes in quadratic time.
type quotable struct{ common.Source }

func (q quotable) Snippet(line int) (string, bool) {
	snippet, found := q.Source.Snippet(line)
	return snippet, found && len(snippet) <= maxMessage/2
}
