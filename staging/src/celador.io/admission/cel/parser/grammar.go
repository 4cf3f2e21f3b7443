// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"strconv"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// expression parses disjunction ["?" disjunction ":" expression].
func (t *tree) expression() ast.Expr {
	t.descend()
	e := t.disjunction()
	if t.at("?") {
		height, id := t.height, t.id(t.next())
		holds := t.disjunction()
		height = max(height, t.height)
		t.want(":")
		e = t.factory.NewCall(id, operators.Conditional, e, holds, t.expression())
		t.grow(height)
	}
	t.depth--
	return e
}

// disjunction parses conjunction {"||" conjunction}.
func (t *tree) disjunction() ast.Expr {
	return t.logical("||", operators.LogicalOr, (*tree).conjunction)
}

// conjunction parses comparison {"&&" comparison}.
func (t *tree) conjunction() ast.Expr {
	return t.logical("&&", operators.LogicalAnd, func(t *tree) ast.Expr { return t.binary(comparison) })
}

func (t *tree) logical(operator, function string, term func(*tree) ast.Expr) ast.Expr {
	first := term(t)
	if !t.at(operator) {
		return first
	}
	terms, ids, height := []ast.Expr{first}, []int64(nil), t.height
	for t.at(operator) {
		at := t.next()
		terms = append(terms, term(t))
		ids = append(ids, t.id(at))
		height = max(height, t.height)
	}
	t.grow(height)
	return t.balance(function, terms, ids)
}

// balance connects the terms of && or || with calls, as a balanced tree, which is not as deep as a
// chain. ids are the IDs of the calls.
func (t *tree) balance(function string, terms []ast.Expr, ids []int64) ast.Expr {
	if len(ids) == 0 {
		return terms[0]
	}
	middle := len(ids) / 2
	left := t.balance(function, terms[:middle+1], ids[:middle])
	return t.factory.NewCall(ids[middle], function, left, t.balance(function, terms[middle+1:], ids[middle+1:]))
}

// A level is the precedence of a binary operator.
type level int

const (
	comparison level = iota + 1
	addition
	multiplication
)

func levelOf(operator string) level {
	switch operator {
	case "==", "!=", "<", "<=", ">", ">=", "in":
		return comparison
	case "+", "-":
		return addition
	case "*", "/", "%":
		return multiplication
	}
	return 0
}

// binary parses unary {operator unary}, with binary operators of at least the given precedence.
func (t *tree) binary(least level) ast.Expr {
	left := t.unary()
	for t.peek().kind == symbol {
		operator := t.text(t.peek())
		level := levelOf(operator)
		if level < least {
			break
		}
		height, id := t.height, t.id(t.next())
		function, _ := operators.Find(operator)
		left = t.factory.NewCall(id, function, left, t.binary(level+1))
		t.grow(height)
	}
	return left
}

// unary parses {"!"} member | "-" member.
func (t *tree) unary() ast.Expr {
	switch {
	case t.at("!"):
		first, odd := t.next(), true
		for ; t.accept("!"); odd = !odd {
		}
		if !odd {
			return t.member()
		}
		return t.sign(first, operators.LogicalNot)
	case t.at("-") && t.tokens[1].kind != integer:
		minus := t.next()
		if t.at("-") {
			panic(declined{})
		}
		return t.sign(minus, operators.Negate)
	}
	return t.member()
}

func (t *tree) sign(operator token, function string) ast.Expr {
	id := t.id(operator)
	signed := t.factory.NewCall(id, function, t.member())
	t.grow(0)
	return signed
}

// member parses a primary expression and the selections, calls and indexes that follow it.
func (t *tree) member() ast.Expr {
	e := t.primary()
	for {
		switch {
		case t.at("."):
			e = t.selection(e)
		case t.at("["):
			height, open, function := t.height, t.next(), operators.Index
			if t.optional() {
				function = operators.OptIndex
			}
			id := t.id(open)
			index := t.expression()
			t.want("]")
			e = t.factory.NewCall(id, function, e, index)
			t.grow(height)
		default:
			return e
		}
	}
}

// selection parses "." ["?"] name | "." name arguments.
func (t *tree) selection(of ast.Expr) ast.Expr {
	dot, optional, name := t.next(), t.optional(), t.name()
	if !optional && t.at("(") {
		return t.call(t.text(name), of)
	}
	t.grow(0)
	if optional {
		field := t.factory.NewLiteral(t.id(name), types.String(t.text(name)))
		return t.factory.NewCall(t.id(dot), operators.OptSelect, of, field)
	}
	return t.factory.NewSelect(t.id(dot), of, t.text(name))
}

// optional consumes the question mark of an optional selection or index, and reports whether there
// is one.
func (t *tree) optional() bool { return t.optionals && t.accept("?") }

// call parses "(" [expression {"," expression}] ")". The target is nil unless the function is a
// member.
func (t *tree) call(function string, target ast.Expr) ast.Expr {
	height := 0
	if target != nil {
		height = t.height
	}
	id := t.id(t.next())
	arguments := []ast.Expr{}
	for !t.at(")") {
		if len(arguments) > 0 {
			t.want(",")
		}
		arguments = append(arguments, t.expression())
		height = max(height, t.height)
	}
	t.next()
	t.enclose(height)
	if expanded := t.expand(id, function, target, arguments); expanded != nil {
		return expanded
	}
	if target != nil {
		return t.factory.NewMemberCall(id, function, target, arguments...)
	}
	return t.factory.NewCall(id, function, arguments...)
}

// primary parses a variable, a function call, an object, a literal, a list, a map or an expression
// in parentheses.
func (t *tree) primary() ast.Expr {
	at := t.next()
	t.height = 1
	switch at.kind {
	case identifier:
		return t.named(at)
	case integer:
		return t.integer(at.start, t.text(at))
	case text:
		return t.factory.NewLiteral(t.id(at), types.String(unquote(t.text(at))))
	case symbol:
		switch t.text(at) {
		case "(":
			e := t.expression()
			t.want(")")
			t.grow(0)
			return e
		case "[":
			return t.list(at)
		case "{":
			return t.mapping(at)
		case "-":
			return t.integer(at.start, "-"+t.text(t.next()))
		case "true":
			return t.factory.NewLiteral(t.id(at), types.True)
		case "false":
			return t.factory.NewLiteral(t.id(at), types.False)
		case "null":
			return t.factory.NewLiteral(t.id(at), types.NullValue)
		}
	}
	panic(declined{})
}

func (t *tree) integer(start int32, digits string) ast.Expr {
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		panic(declined{})
	}
	id := t.newID(ast.OffsetRange{Start: start, Stop: start + int32(len(digits))})
	return t.factory.NewLiteral(id, types.Int(value))
}

// named parses what starts with a name: a variable, a function call or an object.
func (t *tree) named(first token) ast.Expr {
	name := t.text(first)
	if reserved(name) {
		panic(declined{})
	}
	parts := 0
	for t.isSymbol(t.tokens[parts], ".") && t.tokens[parts+1].kind == identifier {
		parts += 2
	}
	if t.isSymbol(t.tokens[parts], "{") {
		for range parts {
			name += t.text(t.next())
		}
		return t.object(name)
	}
	if t.at("(") {
		return t.call(name, nil)
	}
	return t.factory.NewIdent(t.id(first), name)
}

// reserved reports whether the language reserves a name, so that it is not a variable or function.
func reserved(name string) bool {
	switch name {
	case "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package", "namespace", "return",
		"var", "void", "while":
		return true
	}
	return false
}

// list parses [expression {"," expression} [","]] "]".
func (t *tree) list(open token) ast.Expr {
	id, elements := t.id(open), []ast.Expr{}
	t.sequence("]", func() { elements = append(elements, t.expression()) })
	return t.factory.NewList(id, elements, nil)
}

// mapping parses [entry {"," entry} [","]] "}", where an entry is expression ":" expression.
func (t *tree) mapping(open token) ast.Expr {
	id, entries := t.id(open), []ast.EntryExpr{}
	t.sequence("}", func() {
		entry := t.id(open)
		key := t.expression()
		height := t.height
		colon := t.want(":")
		t.positions[entry-1] = ast.OffsetRange{Start: colon.start, Stop: colon.stop}
		entries = append(entries, t.factory.NewMapEntry(entry, key, t.expression(), false))
		t.height = max(height, t.height)
	})
	return t.factory.NewMap(id, entries)
}

// object parses "{" [field {"," field} [","]] "}", where a field is name ":" expression.
func (t *tree) object(typeName string) ast.Expr {
	id, fields := t.id(t.next()), []ast.EntryExpr{}
	t.sequence("}", func() {
		name := t.text(t.name())
		field := t.id(t.want(":"))
		fields = append(fields, t.factory.NewStructField(field, name, t.expression(), false))
	})
	return t.factory.NewStruct(id, typeName, fields)
}

// sequence parses elements up to a closing bracket, with a comma between them and perhaps after the
// last one.
func (t *tree) sequence(closing string, element func()) {
	height := 0
	for !t.accept(closing) {
		element()
		height = max(height, t.height)
		if !t.at(closing) {
			t.want(",")
		}
	}
	t.enclose(height)
}
