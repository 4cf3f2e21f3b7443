// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/syntax"
)

// A ResultPart is a part of a result that is visible in the text of the expression, such as the
// field a of T{a: self.b}: the result itself, or a field, item or entry of a literal in it.
type ResultPart struct {
	// Path leads from the result to the part: names of fields as schemas spell them, keys of maps,
	// and Entry for items.
	Path []string
	// Constant is the value of a part that is a literal, or null for optional.none(). Nil if the
	// part is computed.
	Constant ref.Val
}

// ResultParts returns the innermost parts of the results that are visible in the text of the
// expression, in its order. It includes those of all branches of conditionals. There are none if
// the expression cannot be checked.
func (x *Expression) ResultParts() []ResultPart {
	checked, err := x.ast()
	if err != nil {
		return nil
	}
	var p resultParts
	p.collect(checked.NativeRep().Expr(), nil)
	return p.parts
}

type resultParts struct{ parts []ResultPart }

func (p *resultParts) collect(e ast.Expr, path []string) {
	if results := resultsOf(e); len(results) > 0 {
		for _, result := range results {
			p.collect(result, path)
		}
		return
	}
	part := ResultPart{Path: path}
	switch e.Kind() {
	case ast.LiteralKind:
		part.Constant = e.AsLiteral()
	case ast.CallKind:
		if e.AsCall().FunctionName() == "optional.none" {
			part.Constant = types.NullValue
		}
	case ast.ComprehensionKind:
		if item, _, ok := syntax.Collected(e.AsComprehension()); ok {
			p.collect(item, join(path, Entry))
			return
		}
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			p.collect(item, join(path, Entry))
		}
		return
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			key, isText := syntax.Text(entry.AsMapEntry().Key())
			if !isText {
				key = Entry
			}
			p.collect(entry.AsMapEntry().Value(), join(path, key))
		}
		return
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			name := field.AsStructField().Name()
			if unescaped, ok := apiservercel.Unescape(name); ok {
				name = unescaped
			}
			p.collect(field.AsStructField().Value(), join(path, name))
		}
		return
	}
	p.parts = append(p.parts, part)
}

func join(path []string, step string) []string { return append(slices.Clip(path), step) }
