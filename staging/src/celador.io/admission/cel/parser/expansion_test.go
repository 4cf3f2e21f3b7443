// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package parser_test

import (
	"strings"
	"testing"

	"github.com/google/cel-go/common/ast"

	"celador.io/admission/cel/parser"
)

// Chains of macros that copy are parsed as cel-go parses them, or refused. No tree grows beyond a
// bound.
func TestCopies(t *testing.T) {
	bounded, err := parser.BoundMacros(base())
	if err != nil {
		t.Fatal(err)
	}
	p := parser.New(bounded)
	for _, call := range []string{".optMap(x, x)", ".optFlatMap(x, optional.of(x))"} {
		for length := range 31 {
			source := "optional.of(1)" + strings.Repeat(call, length)
			parsed, issues := p.Parse(source)
			if isRefused := p.CheckNodes(source) != nil; isRefused != (length > 10) || isRefused != (issues != nil) {
				t.Errorf("%d calls of %s: got %v", length, call, issues)
			}
			if issues != nil {
				continue
			}
			want, _ := base().Parse(source)
			got, nodes := 0, 0
			ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(ast.Expr) { got++ }))
			ast.PostOrderVisit(want.NativeRep().Expr(), ast.NewExprVisitor(func(ast.Expr) { nodes++ }))
			if got != nodes || parsed.NativeRep().Expr().ID() != want.NativeRep().Expr().ID() || got > 1<<14 {
				t.Errorf("%d calls of %s: got %d nodes, want %d", length, call, got, nodes)
			}
		}
	}
}
