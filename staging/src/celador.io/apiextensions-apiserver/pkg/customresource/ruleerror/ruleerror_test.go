// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleerror_test

import (
	"errors"
	"strings"
	"testing"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
)

func TestShorten(t *testing.T) {
	long := strings.Repeat("é", 300) + "!" + strings.Repeat("x", 300)
	// The type checker writes wide dots below characters of several bytes.
	dots, wide := func(n int) string { return strings.Repeat(".", n) }, func(n int) string { return strings.Repeat("．", n) }
	text := "'" + strings.Repeat("é", 100) + "' + x"
	single := "compilation failed: ERROR: <input>:1:5: bad\n | self\n | ....^"
	for _, tc := range []struct{ detail, want string }{
		{"short", "short"},
		{single, single},
		{
			"ERROR: <input>:1:301: bad\n | " + long + "\n | " + wide(300) + "^",
			"ERROR: <input>:1:301: bad\n | ..." + strings.Repeat("é", 60) + "!" + strings.Repeat("x", 99) + "...\n | ..." + wide(60) + "^",
		},
		{
			"ERROR: <input>:1:62: bad\n | " + long + "\n | " + wide(61) + "＾",
			"ERROR: <input>:1:62: bad\n | ..." + strings.Repeat("é", 160) + "...\n | ..." + wide(60) + "＾",
		},
		{
			"ERROR: <input>:1:106: bad\n | " + text + "\n | ." + wide(100) + dots(4) + "^",
			"ERROR: <input>:1:106: bad\n | " + text + "\n | ." + wide(100) + dots(4) + "^",
		},
		{
			"ERROR: <input>:1:3: bad\n | " + long + "\n | ..^",
			"ERROR: <input>:1:3: bad\n | " + strings.Repeat("é", 160) + "...\n | ..^",
		},
		{
			"ERROR: a\nERROR: b\nERROR: c\nERROR: d\nERROR: e",
			"ERROR: a\nERROR: b\nERROR: c\n... and 2 more errors",
		},
		{strings.Repeat("x", 1000), strings.Repeat("x", 500) + "..."},
	} {
		if got := ruleerror.Shorten(tc.detail); got != tc.want {
			t.Errorf("got:\n%s\nwant:\n%s", got, tc.want)
		}
	}
}

func TestEvaluation(t *testing.T) {
	for text, want := range map[string]string{
		"no such key: a":   "no such key: a (it is unset in this object; ask with has(...) first, or read it with .? and orValue(...))",
		"division by zero": "division by zero",
	} {
		err := errors.New(text)
		if got := ruleerror.WithAdvice(err); got.Error() != want || !errors.Is(got, err) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}

func TestHints(t *testing.T) {
	none := func(string) string { return "" }
	overload := func(operator, operands string) string {
		return "ERROR: <input>:1:1: found no matching overload for '" + operator + "' applied to '(" + operands + ")'\n | x\n | ^"
	}
	for detail, want := range map[string]string{
		overload("_?_:_", "bool, string, null"):          "null is allowed only",
		overload("_?_:_", "bool, null, list(int)"):       "null is allowed only",
		overload("_?_:_", "bool, string, int"):           "Both results",
		overload("_==_", "null, string"):                 "Fields are unset",
		overload("_==_", "int, string"):                  "Only values of the same type",
		overload("_+_", "int, string"):                   "Texts can only be joined",
		overload("_+_", "int, double"):                   "",
		overload("startsWith", "int.(string)"):           "",
		"type 'string' does not support field selection": "Write keys with dots",
		"undefined field 'a'":                            "",
	} {
		hints := ruleerror.Hints(detail, "", ruleerror.Names{Variable: none, Field: none})
		if want == "" && len(hints) > 0 || want != "" && (len(hints) != 1 || !strings.HasPrefix(hints[0], want)) {
			t.Errorf("%s: got %q, want %s", detail, hints, want)
		}
	}
}
