// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
)

const (
	// maxIssues is the number of issues of one expression that cel-go keeps. It only counts further
	// ones.
	maxIssues = 100
	// maxShown limits the issues in a message.
	maxShown = 10
	// maxMessage limits the bytes of the issues in a message.
	maxMessage = 8 << 10
)

// failed reports whether there are issues. issues.Err() != nil would format all of them.
func failed(issues *cel.Issues) bool { return len(issues.Errors()) > 0 }

// full reports whether there may be issues that cel-go does not list.
func full(issues *cel.Issues) bool { return len(issues.Errors()) >= maxIssues }

// sorted returns the issues in the order of their positions.
func sorted(issues *cel.Issues) []*common.Error {
	errs := slices.Clone(issues.Errors())
	slices.SortStableFunc(errs, func(a, b *common.Error) int {
		return cmp.Or(cmp.Compare(a.Location.Line(), b.Location.Line()), cmp.Compare(a.Location.Column(), b.Location.Column()))
	})
	return errs
}

// messageOf returns cel-go's text of the issues in a source. It shortens long texts, and ends with
// the number of errors that are left out.
func messageOf(source common.Source, issues *cel.Issues) string {
	errs := sorted(issues)
	text, shown := "", 0
	for shown < min(len(errs), maxShown) && len(text) <= maxMessage {
		if shown > 0 {
			text += "\n"
		}
		text += errs[shown].ToDisplayString(shortLines{source})
		shown++
	}
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + " ..."
	}
	switch more := len(errs) - shown; {
	case more > 0 && full(issues):
		text += fmt.Sprintf("\n... errors left out: %d or more", more)
	case more > 0:
		text += fmt.Sprintf("\n... errors left out: %d", more)
	}
	return text
}

// shortLines is a source without lines that are too long to quote. cel-go quotes a line with a
// marker line below it, which it builds in quadratic time.
type shortLines struct{ common.Source }

// Snippet implements common.Source.
func (s shortLines) Snippet(line int) (string, bool) {
	snippet, found := s.Source.Snippet(line)
	return snippet, found && len(snippet) <= maxMessage/2
}
