// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
)

// expand returns the expression that a call expands to if it is a call of a macro, and nil
// otherwise. It declines the expression if the macro returns an error.
func (t *tree) expand(id int64, function string, target ast.Expr, arguments []ast.Expr) ast.Expr {
	macro := t.macro(function, target != nil, len(arguments))
	if macro == nil {
		return nil
	}
	expanded, err := macro.Expander()(&expansion{t, t.positions[id-1].Start}, target, arguments)
	if err != nil {
		panic(declined{})
	}
	if expanded != nil {
		t.remove(id)
	}
	return expanded
}

// macro returns the macro of a call, or nil if there is none. It declines the expression if the
// macro is one that accepts any number of arguments.
func (p *Parser) macro(function string, member bool, arguments int) (found cel.Macro) {
	for _, macro := range p.macros[function] {
		switch {
		case macro.IsReceiverStyle() != member:
		case strings.Contains(macro.MacroKey(), "*"):
			panic(declined{})
		case macro.ArgCount() == arguments:
			found = macro
		}
	}
	return found
}

// An expansion constructs the nodes of a macro, which have the position of the call. It implements
// cel.MacroExprFactory.
type expansion struct {
	tree *tree
	at   int32
}

func (e *expansion) id() int64 { return e.tree.newID(ast.OffsetRange{Start: e.at, Stop: e.at}) }

// Copy declines the expression. Macros that copy their operands, such as optMap(), are left to
// cel-go.
func (e *expansion) Copy(ast.Expr) ast.Expr { panic(declined{}) }

func (e *expansion) NewLiteral(value ref.Val) ast.Expr {
	return e.tree.factory.NewLiteral(e.id(), value)
}

func (e *expansion) NewList(elements ...ast.Expr) ast.Expr {
	return e.tree.factory.NewList(e.id(), elements, nil)
}

func (e *expansion) NewMap(entries ...ast.EntryExpr) ast.Expr {
	return e.tree.factory.NewMap(e.id(), entries)
}

func (e *expansion) NewMapEntry(key, value ast.Expr, optional bool) ast.EntryExpr {
	return e.tree.factory.NewMapEntry(e.id(), key, value, optional)
}

func (e *expansion) NewStruct(typeName string, fields ...ast.EntryExpr) ast.Expr {
	return e.tree.factory.NewStruct(e.id(), typeName, fields)
}

func (e *expansion) NewStructField(field string, value ast.Expr, optional bool) ast.EntryExpr {
	return e.tree.factory.NewStructField(e.id(), field, value, optional)
}

func (e *expansion) NewComprehension(entries ast.Expr, variable, accumulator string, initial, condition, step, result ast.Expr) ast.Expr {
	return e.tree.factory.NewComprehension(e.id(), entries, variable, accumulator, initial, condition, step, result)
}

func (e *expansion) NewComprehensionTwoVar(entries ast.Expr, first, second, accumulator string, initial, condition, step, result ast.Expr) ast.Expr {
	return e.tree.factory.NewComprehensionTwoVar(e.id(), entries, first, second, accumulator, initial, condition, step, result)
}

func (e *expansion) NewIdent(name string) ast.Expr { return e.tree.factory.NewIdent(e.id(), name) }

func (e *expansion) NewAccuIdent() ast.Expr { return e.tree.factory.NewAccuIdent(e.id()) }

func (e *expansion) AccuIdentName() string { return e.tree.factory.AccuIdentName() }

func (e *expansion) NewCall(function string, arguments ...ast.Expr) ast.Expr {
	return e.tree.factory.NewCall(e.id(), function, arguments...)
}

func (e *expansion) NewMemberCall(function string, target ast.Expr, arguments ...ast.Expr) ast.Expr {
	return e.tree.factory.NewMemberCall(e.id(), function, target, arguments...)
}

func (e *expansion) NewPresenceTest(operand ast.Expr, field string) ast.Expr {
	return e.tree.factory.NewPresenceTest(e.id(), operand, field)
}

func (e *expansion) NewSelect(operand ast.Expr, field string) ast.Expr {
	return e.tree.factory.NewSelect(e.id(), operand, field)
}

// OffsetLocation returns no location, because the parser declines expressions with errors.
func (*expansion) OffsetLocation(int64) common.Location { return common.NoLocation }

func (*expansion) NewError(id int64, message string) *common.Error {
	return common.NewError(id, message, common.NoLocation)
}
