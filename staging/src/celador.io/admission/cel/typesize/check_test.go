// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize_test

import (
	"fmt"
	"strings"
	"testing"
)

func repeated(before, text, after string, count int) string {
	return before + strings.Repeat(text, count) + after
}

// TestCheck checks the longest plausible expressions, which pass, and short ones with types
// that are too large.
func TestCheck(t *testing.T) {
	t.Parallel()
	const (
		tooLarge = "type is too large: it is made of more than 4096 types"
		tooMuch  = "types are too large: those of all parts of the expression take too long to check"
	)
	for name, test := range map[string]struct{ source, want string }{
		"long list":                {repeated("s in [", "'abcdefg',", "'']", 9900), ""},
		"long list of maps":        {repeated("[", "{'name': s, 'value': 'b'},", "{'name': '', 'value': ''}].size() > 0", 3500), ""},
		"long map":                 {repeated("{", "s + 'a': [i],", "'': []}.size() > 0", 7000), ""},
		"many conditions":          {repeated("", "object.spec.a == 'abc' && ", "true", 3800), ""},
		"many macros":              {repeated("", "ints.map(x, x + 1).exists(x, x == 2) || ", "false", 2000), ""},
		"many defaults":            {repeated("", "(b ? [] : [1]) == ints || ", "false", 3500), ""},
		"many empty lists":         {repeated("[", "[],", "[1]].size() > 0", 30000), ""},
		"many optional values":     {repeated("", "object.?a.?b.orValue('') == '' || ", "false", 2800), ""},
		"concatenations":           {repeated("texts", " + texts", " == texts", 60), ""},
		"deep selection":           {repeated("object", ".a", " == 1", 120), ""},
		"deep index":               {repeated("object", "['a']", " == 1", 120), ""},
		"deep optional selection":  {repeated("object", ".?a", ".orValue(1) == 1", 60), ""},
		"deep literal":             {repeated("", "{'a': ", "1", 100) + strings.Repeat("}", 100), ""},
		"deep lists":               {repeated("", "[", "1", 200) + strings.Repeat("]", 200), ""},
		"chain of macros":          {repeated("ints", ".map(x, x)", "", 100), ""},
		"doubled often":            {repeated("ints", ".map(x, {x: x})", "", 10), ""},
		"doubled too often":        {repeated("ints", ".map(x, {x: x})", "", 12), tooLarge},
		"doubled without end":      {repeated("ints", ".map(x, {x: x})", "", 100), tooLarge},
		"doubled from nothing":     {repeated("[]", ".map(x, {x: x})", "", 100), tooLarge},
		"doubled, then known":      {repeated("[[]]", ".map(x, {x: x})", "", 11) + " == " + repeated("ints.map(y, [[y]])", ".map(x, {x: x})", "", 11), tooLarge},
		"doubled lists":            {repeated("[ints]", ".map(x, {x: x})", "", 100), tooLarge},
		"doubled in two variables": {repeated("ints", ".transformMapEntry(k, x, {{k: x}: {k: x}})", "", 100), tooLarge},
		"doubled and wrong":        {repeated("unknown", ".map(x, {x: x})", " + 'a' + 1", 3), ""},
		"doubled in literals":      {nested("{%[1]s: %[1]s}", "1", 12), tooLarge},
		"doubled as dynamic":       {repeated("ints", ".map(x, {x: dyn(x)})", "", 100), ""},
		"many large ones":          {repeated("ints", ".map(x, {x: x})", "", 9) + repeated(".map(x, [", "x,", "x])", 5000), tooMuch},
		"very deep lists":          {repeated("", "[", "1", 240) + strings.Repeat("]", 240), tooMuch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, issues := language().Parse(test.source)
			if issues != nil {
				t.Fatal(issues.Err())
			}
			got := functions().Check(language(), parsed)
			switch {
			case test.want == "" && got != nil:
				t.Errorf("got the issue %s", got.Errors()[0].Message)
			case test.want != "" && (got == nil || !strings.HasPrefix(got.Errors()[0].Message, test.want)):
				t.Errorf("%s: got the issues %v, want %s", name, got.Errors(), test.want)
			}
		})
	}
}

// nested applies a format to its own result the given number of times.
func nested(format, inner string, count int) string {
	for range count {
		inner = fmt.Sprintf(format, inner)
	}
	return inner
}

func BenchmarkCheck(b *testing.B) {
	for name, source := range map[string]string{
		"short": "object.spec.replicas > 1 && object.metadata.labels.all(k, k.startsWith('a'))",
		"long":  repeated("", "object.spec.containers.all(c, c.image.startsWith('abc')) && ", "true", 1500),
	} {
		b.Run(name, func(b *testing.B) {
			parsed, issues := language().Parse(source)
			if issues != nil {
				b.Fatal(issues.Err())
			}
			b.ReportAllocs()
			for b.Loop() {
				if functions().Check(language(), parsed) != nil {
					b.Fatal("has issues")
				}
			}
		})
	}
}
