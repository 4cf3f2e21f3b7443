// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package warningtext_test

import (
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/net"

	"celador.io/admission/warningtext"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"plain":                         "plain",
		"two  spaces, \u00a0\u2028ünï":  "two  spaces, \u00a0\u2028ünï",
		"a &&\n    b":                   "a && b",
		"a\tb\r\nc\vd\fe\u0085f":        "a b c d e f",
		"a  \u00a0\n\t\n  b  c":         "a b  c",
		"end \n":                        "end",
		"\n start":                      "start",
		"bell\a, escape\x1b[31m, \x00.": "bell\ufffd, escape\ufffd[31m, \ufffd.",
		"delete\x7f, C1\u009b":          "delete\ufffd, C1\ufffd",
		"invalid \xff\xfe bytes":        "invalid \ufffd\ufffd bytes",
		"cut \xe6\x97":                  "cut \ufffd\ufffd",
		`"quoted" \ back`:               `"quoted" \ back`,
		"\n\t":                          "",
	} {
		if got := warningtext.Of(text); got != want {
			t.Errorf("Of(%q) is %q, want %q", text, got, want)
		}
	}
}

// FuzzOf checks that headers carry all texts, and those that they carried before as they are.
func FuzzOf(f *testing.F) {
	for _, text := range []string{"a\nb", "\xff", "a b", "\u0085\u00a0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := warningtext.Of(text)
		header, err := net.NewWarningHeader(299, "-", got)
		if err != nil {
			t.Fatalf("%q has no header: %v", got, err)
		}
		parsed, _, err := net.ParseWarningHeader(header)
		if err != nil || parsed.Text != got {
			t.Errorf("%q is read as %q: %v", header, parsed.Text, err)
		}
		if _, err := net.NewWarningHeader(299, "-", text); err == nil && got != text {
			t.Errorf("%q is changed to %q", text, got)
		}
		if utf8.RuneCountInString(got) > utf8.RuneCountInString(text) {
			t.Errorf("%q is longer than %q", got, text)
		}
	})
}
