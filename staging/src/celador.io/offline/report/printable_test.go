// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"

	"celador.io/admission/validating"
	"celador.io/offline/audit"
	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
	"celador.io/offline/report"
	"celador.io/offline/suite"
)

// hostile has control characters of all kinds: an escape sequence, a bell, one of C1, and one that
// reverses the direction of text.
const hostile = "x\x1b[31m\a\u009b\u202ey"

// TestNoControlCharacters writes reports whose every text has control characters.
func TestNoControlCharacters(t *testing.T) {
	position := manifest.Position{File: hostile, Line: 1}
	expression := suite.Expression{Position: position, Text: hostile, Explanation: &coverage.Explanation{Text: hostile, Part: hostile, Value: hostile}}
	results := []suite.Result{{Name: hostile, Position: position, Cases: []suite.CaseResult{
		{Name: hostile, Position: position, Err: errors.New(hostile)}, {Name: hostile, Position: position, Skipped: hostile},
		{Name: hostile, Position: position, Note: hostile, Decision: suite.Conclusion(hostile), Mismatches: []suite.Mismatch{
			{Field: hostile, Position: position, Want: hostile, Got: hostile, Expressions: []suite.Expression{expression}},
		}, Differences: []suite.Difference{{Field: hostile, Want: map[string]any{hostile: hostile}, Got: map[string]any{"a": hostile}}}},
	}}}
	profile := &coverage.Profile{}
	profile.Add(coverage.Expression{Kind: hostile, Name: hostile, Field: hostile, Position: position, Text: hostile, Branches: []coverage.Branch{{Text: hostile, Missing: hostile}, {Covered: true}}})
	object := audit.Reference{Name: hostile, Namespace: hostile, Position: position}
	audited := &audit.Report{
		Policies: []audit.PolicyResult{
			{Name: hostile, Binding: hostile, Violations: []audit.Violation{{Object: object, Outcome: validating.Denied, Message: hostile}}, ViolationsCount: 1},
			{Name: hostile, NotAuditable: hostile},
		},
		Unevaluated: []audit.Unevaluated{{Object: object, Err: errors.New(hostile)}}, UnevaluatedCount: 1, Unread: []error{errors.New(hostile)},
	}
	texts := map[string]string{}
	for _, format := range []string{"table", "tap"} {
		var out bytes.Buffer
		if err := report.Runs[format](&out, &report.Run{Results: results, Problems: []report.Problem{{Name: hostile, File: hostile, Err: errors.New(hostile)}}, Coverage: profile}); err != nil {
			t.Fatal(err)
		}
		texts[format] = out.String()
	}
	var out bytes.Buffer
	if err := report.AuditTable(&out, audited); err != nil {
		t.Fatal(err)
	}
	texts["audit"] = out.String()
	texts["Printable"] = report.Printable(hostile)
	for name, text := range texts {
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }); i >= 0 {
			t.Errorf("%s has %q", name, text[max(0, i-40):i+8])
		}
	}
}
