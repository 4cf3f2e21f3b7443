// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package parser_test

import (
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/cel-go/cel"
	"google.golang.org/protobuf/proto"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/parser"
)

var base = sync.OnceValue(func() *cel.Env {
	env, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Env(environment.StoredExpressions)
	if err != nil {
		panic(err)
	}
	return env
})

var parsers = sync.OnceValue(func() *parser.Parser { return parser.New(base()) })

// accepted are expressions that the parser must accept.
var accepted = []string{
	"a", "self.a.b", "a . b", "1", "-1", "- 1", "-9223372036854775808", "0", "'a'", `"a\"b\\c\n\t\r\'"`, `r'\d+\.'`, `R"a'b"`, "''", `""`, "true", "null", "false",
	"a || b", "a || b || c", "a && b && c && d && e || f && g || h || i", "(a && b) && (c && d)", "a == b", "a < b == c", "1 + 2 * 3 - 4 % 5 / 6", "a in [1, 2]",
	"!a", "!!a", "!!!a.b", "!-1", "-a", "-(a)", "-a.b[0] + -1", "1 -1", "1--1", "a ? b : c", "a ? b : c ? d : e", "(a ? b : c) ? d || e : f",
	"a[0]", "a[b[c]].d", "a.?b", "a.?b.?c.orValue(1)", "a[?0]", "a[?'b'].hasValue()", "f()", "f(a, b)", "a.f()", "a.f(b).g(c, d)", "size(a) == 0",
	"[]", "[1]", "[1, 2,]", "{}", "{'a': 1}", "{'a': 1, 'b': [2],}", "T{}", "a.b.T{x: 1}", "T{x: 1, y: U{z: [1]},}", "T{while: 1}", "a.while",
	"has(a.b)", "has(a.b.c) && has(d.e)", "a.all(x, x > 0)", "a.exists(x, b.exists(y, x == y))", "a.exists_one(x, has(x.y))", "a.map(x, x + 1)", "a.map(x, x > 1, x)",
	"a.filter(x, x.y)", "cel.bind(x, a.b, x + x)", "a.all(i, v, i < v)", "a.transformList(i, v, v)", "a.transformMap(k, v, v)",
	"a.all(x, b.all(x, x)) || has(a.b) || f(has(c.d))", "!has(a.b) ? 'x' : a.b", "[has(a.b), {has(c.d): 1}]", "has", "all(a)", "a.has(b)", "a.map(x)",
	"a // comment", "// 'a\n a\n  == // b\n b\n", "a\n\t&&\r\n\fb", "a.size() > 0 // 1",
	strings.Repeat("(", 100) + "a" + strings.Repeat(")", 100), "a" + strings.Repeat(" + a", 150), "a" + strings.Repeat(" && a", 150), strings.Repeat("!", 500) + "a",
}

// declined are expressions that the parser may decline: invalid ones, and such with rare syntax.
var declined = []string{
	"", " ", "a b", "a.", ".a", ".a.b", "a..b", "(a", "a)", "[1", "[,]", "{,}", "{1}", "T{1: 2}", "a[", "a[]", "f(,)", "f(a,)", "f(a b)", "a ? b", "a ? b : ", "a ? b ? c : d : e",
	"a = b", "a & b", "a | b", "a === b", "1.5", "1e3", ".5", "1.", "0x1f", "1u", "0x1fu", "1a", "9223372036854775808", "01", "b'a'", "br'a'", "rb'a'", `'''a'''`, `""""""`, `"""a"b"""`, `'a`, "'a\nb'", `'\x41'`,
	`'\u0041'`, `'\101'`, `'\q'`, `'\'`, "in", "a.in", "a.true", "if", "while(a)", "package.a", "--a", "---1", "- -1", "-!a", "!-a", "a.`b-c`", "`a`", "é", "'é'", "a // é", "a.?b()", "a?.b", "[?a]", "{?a: b}",
	"T{?a: b}", "has(a)", "a.all(1, b)", "a.all(a.b, c)", "a.optMap(x, x)", "cel.bind(1, 2, 3)", "a.b{}.c", "(a){}", "a{}{}", "f(x){}", "a.f(x){}", "a\x00b", "a ; b", "true()", "null.a", "a < ", "#a", "\\a",
	strings.Repeat("(", 300) + "a" + strings.Repeat(")", 300), "a" + strings.Repeat(" + a", 300), "a" + strings.Repeat(".a", 300), strings.Repeat("[", 300) + strings.Repeat("]", 300),
	"a" + strings.Repeat(" + a", 50_000),
	nested("(", "a", ")+a+a"), nested("(", "a", ")==a==a"), nested("(", "a", ").b.b"), nested("f(", "a", ").b.b"), nested("[", "a", "][0][0]"),
	nested("f(", "a", ").b+a"), nested("[a].all(x,", "a", ")==a"), nested("a.f(a,", "a", ").b"), nested("{a:", "a", "}.b.b"), nested("T{a:", "a", "}.b.b"),
	nested("-(", "a", ").b"), nested("(", "a", "?a:a)+a"), nested("(a?", "a", ":a).b"), nested("(a&&", "a", "||a)"), nested("a[", "a", "].b"),
}

// nested returns an expression that is deeper than cel-go's parser allows, although its brackets
// are not.
func nested(opening, middle, closing string) string {
	return strings.Repeat(opening, 126) + middle + strings.Repeat(closing, 126)
}

func TestParse(t *testing.T) {
	for _, source := range accepted {
		if !check(t, source) {
			t.Errorf("%s: declined", source)
		}
	}
	for _, source := range declined {
		check(t, source)
	}
}

func TestParseWithoutOptionals(t *testing.T) {
	env, err := cel.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"a.?b", "a[?b]"} {
		if _, ok := parser.New(env).Accept(source); ok {
			t.Errorf("%s: accepted by an environment without optionals", source)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, source := range accepted {
		f.Add(source)
	}
	for _, source := range declined {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) { check(t, source) })
}

// check compares the tree of an accepted expression with that of cel-go's parser. It returns false
// if the parser declines the expression.
func check(t *testing.T, source string) bool {
	t.Helper()
	actual, ok := parsers().Accept(source)
	if !ok {
		return false
	}
	expected, issues := base().Parse(source)
	if issues != nil {
		t.Errorf("%s: accepted, but cel-go reports %v", source, issues)
		return true
	}
	if a, e := encode(t, actual), encode(t, expected); !proto.Equal(a, e) {
		t.Errorf("%s: parsed as\n%v\nand by cel-go as\n%v", source, a, e)
	}
	if a, e := actual.NativeRep().SourceInfo().OffsetRanges(), expected.NativeRep().SourceInfo().OffsetRanges(); !maps.Equal(a, e) {
		t.Errorf("%s: nodes have the positions %v, and in cel-go %v", source, a, e)
	}
	if actual.Source().Content() != expected.Source().Content() || actual.Source().Description() != expected.Source().Description() {
		t.Errorf("%s: another source", source)
	}
	return true
}

func encode(t *testing.T, parsed *cel.Ast) proto.Message {
	t.Helper()
	encoded, err := cel.AstToParsedExpr(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func BenchmarkParse(b *testing.B) {
	const source = "self.rules.all(r, !has(r.timeouts) || !has(r.timeouts.request) || duration(r.timeouts.request) >= duration('10s')) && size(self.name) <= 63"
	b.Run("cel-go", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, issues := base().Parse(source); issues != nil {
				b.Fatal(issues)
			}
		}
	})
	b.Run("celador", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := parsers().Accept(source); !ok {
				b.Fatal("declined")
			}
		}
	})
}
