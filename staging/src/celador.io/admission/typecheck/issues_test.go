// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/typecheck"
)

// Messages are short even if an expression has very many errors.
func TestLengthOfMessages(t *testing.T) {
	const longest = 8<<10 + 100
	wrong := func(count int) string { return strings.Repeat("object.x == 1 &&\n", count-1) + "object.x == 1" }
	for name, test := range map[string]struct {
		source string
		shown  int
		// end and quoted are parts of the message.
		end, quoted string
	}{
		"ten":                {wrong(10), 10, "^", "\n | object.x == 1 &&\n"},
		"eleven":             {wrong(11), 10, "\n... errors left out: 1", "\n | object.x == 1 &&\n"},
		"as many as listed":  {wrong(100), 10, "\n... errors left out: 90 or more", ""},
		"more than listed":   {wrong(200), 10, "\n... errors left out: 90 or more", ""},
		"long lines":         {"'" + strings.Repeat("a", 3000) + "' != '' && object.x && object.y && object.z", 2, " ...\n... errors left out: 1", "undefined field 'y'"},
		"beyond ASCII":       {"'" + strings.Repeat("é", 1900) + "' == object.x", 1, " ...", "éé"},
		"one very long line": {"'" + strings.Repeat("a", 20_000) + "' == object.x", 1, ":20013: undefined field 'x'", ""},
		"no syntax":          {strings.Repeat("#", 200), 10, "or more", " | ###"},
		"no syntax, long":    {"'" + strings.Repeat("é", 1900) + "' == ", 1, " ...", "éé"},
		"long name":          {"object." + strings.Repeat("a", 10_000), 1, "aaa ...", "undefined field 'aaa"},
		"in the order of the text": {
			"[object.x, " + strings.Repeat("object.y, ", 10) + "1]", 10, "", "<input>:1:8: undefined field 'x'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := checker(t, mapperFor(deployment), builtIn).CheckValidating(policy(test.source)).Findings
			if len(found) != 1 {
				t.Fatalf("got %d findings, want one", len(found))
			}
			message := found[0].Message
			if len(message) > longest {
				t.Errorf("the message has %d bytes", len(message))
			}
			if !utf8.ValidString(message) {
				t.Error("the message is not valid UTF-8")
			}
			if shown := strings.Count(message, "ERROR: "); shown != test.shown {
				t.Errorf("the message shows %d errors, want %d", shown, test.shown)
			}
			if !strings.HasSuffix(message, test.end) || !strings.Contains(message, test.quoted) {
				t.Errorf("the message is\n%s\nwant one with %q, and at its end %q", message, test.quoted, test.end)
			}
		})
	}
}

// An error is found however many other issues there are that disappear when objects are used as
// maps.
func TestErrorAfterManyOthers(t *testing.T) {
	validating := func(source string) *typecheck.Result {
		return checker(t, mapperFor(deployment), builtIn).CheckValidating(policy(source))
	}
	mutating := func(source string) *typecheck.Result {
		return checker(t, mapperFor(deployment), builtIn).CheckMutating(mutatingPolicy([]v1.Mutation{inline(source)}))
	}
	const unified, mixed, wrong = "object.metadata == {} &&\n", "[1, 'a'].size() > 0 &&\n", "object.nope == 1"
	for name, test := range map[string]struct {
		check  func(string) *typecheck.Result
		source string
		want   string
	}{
		"unified":           {validating, strings.Repeat(unified, 98) + "true", ""},
		"less than listed":  {validating, strings.Repeat(unified, 98) + wrong, "undefined field 'nope'"},
		"as many as listed": {validating, strings.Repeat(unified, 99) + wrong, "errors left out: 90 or more"},
		"one more":          {validating, strings.Repeat(unified, 100) + wrong, "errors left out: 90 or more"},
		"many more":         {validating, strings.Repeat(unified, 200) + wrong, "errors left out: 90 or more"},
		"mixed":             {mutating, strings.Repeat(mixed, 99) + "Object{}.nope == 1", "undefined field 'nope'"},
		"mixed, many more":  {mutating, strings.Repeat(mixed, 200) + "true", "errors left out: 90 or more"},
		"many fields":       {mutating, "Object{" + strings.Repeat("spec: 1,\n", 200) + "spec: 1}", "errors left out: 90 or more"},
		"after unification": {validating, "([object.metadata] + [object.spec]).all(x, " + strings.Repeat("x + 1 == 2 &&\n", 120) + "true) && " + wrong, "undefined field 'nope'"},
	} {
		t.Run(name, func(t *testing.T) {
			found := test.check(test.source).Findings
			switch {
			case test.want == "" && len(found) > 0:
				t.Errorf("found %v", found)
			case test.want != "" && (len(found) != 1 || !strings.Contains(found[0].Message, test.want)):
				t.Errorf("found %v, want %q", found, test.want)
			}
		})
	}
}
