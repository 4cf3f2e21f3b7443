// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// expressions returns the lines of a file in testdata that are not comments.
func expressions(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestOrdinary checks that the evaluator returns a value for every expression of ordinary.txt, for
// typed, unstructured and native objects.
func TestOrdinary(t *testing.T) {
	ins := inputs()
	for _, source := range expressions(t, "ordinary.txt") {
		p, err := kubernetes().compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if p.planned == nil {
			t.Errorf("%s is left to cel-go: %v", source, p.reason)
			continue
		}
		for _, in := range ins {
			check(t, p, in)
		}
		for _, name := range ordinary {
			if !check(t, p, ins[name]) {
				_, _, err := p.reference.ContextEval(t.Context(), ins[name])
				t.Errorf("%s has no value with the input %s (cel-go: %v)", source, name, err)
			}
		}
	}
}

// TestUnusual checks expressions that the evaluator may decline but must not evaluate wrongly.
func TestUnusual(t *testing.T) {
	ins := inputs()
	compiled, planned := 0, 0
	for _, source := range expressions(t, "unusual.txt") {
		p, err := kubernetes().compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		compiled++
		if p.planned == nil {
			continue
		}
		planned++
		for _, in := range ins {
			check(t, p, in)
		}
	}
	t.Logf("%d compile, %d are planned", compiled, planned)
}

// TestMembership looks up scalars in lists of constants, where numbers of different types can be
// equal.
func TestMembership(t *testing.T) {
	typed := map[string]*input{"typed": inputs()["typed"]}
	scalars := []string{
		"0", "1", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808", "0u", "1u", "9007199254740993u", "18446744073709551615u",
		"9223372036854775808u",
		"0.0", "-0.0", "1.0", "1.5", "-1.0", "9007199254740992.0", "9223372036854775808.0", "18446744073709551616.0", "1e300", "double('NaN')",
		"double('Infinity')", "-double('Infinity')", "'1'", "''", "true", "false", "null", "b'1'", "[1]", "{}", "duration('1s')", "int",
	}
	values := 0
	for _, value := range scalars {
		for _, member := range scalars {
			values += countValues(t, fmt.Sprintf("dyn(%s) in [dyn(%s)]", value, member), typed)
			values += countValues(t, fmt.Sprintf("[dyn(%s)].all(x, x in [dyn(%s), dyn('more')])", value, member), typed)
			values += countValues(t, fmt.Sprintf("%s in [%s]", value, member), typed)
		}
	}
	if values == 0 {
		t.Error("membership is never evaluated")
	}
}

// TestRepeated gives two subexpressions the same ID, as macros may, and checks that Plan declines.
func TestRepeated(t *testing.T) {
	l := kubernetes()
	ast, issues := l.Compile("i + i")
	if issues != nil {
		t.Fatal(issues.Err())
	}
	sum := ast.NativeRep().Expr()
	first, second := sum.AsCall().Args()[0].ID(), sum.AsCall().Args()[1].ID()
	sum.RenumberIDs(func(id int64) int64 {
		if id == second {
			return first
		}
		return id
	})
	if p, err := l.plan("i + i", ast); err != nil || p.planned != nil {
		t.Errorf("an expression with equal IDs is planned (%v)", err)
	}
}
