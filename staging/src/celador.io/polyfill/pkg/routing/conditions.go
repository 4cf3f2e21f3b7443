// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// Limits of the expressions that API servers evaluate for each request. What exceeds them is left
// to the policies. An API server may spend a cost of 1,000,000 on each match condition, and fails
// the request if that does not suffice.
const (
	// maxPushed bounds the length of the expression of a webhook.
	maxPushed = 4 << 10
	// maxAllPushed bounds the length of all these expressions in one webhook configuration, because
	// etcd stores no object of more than 1.5 MiB.
	maxAllPushed = 256 << 10
	// maxGroupComparisons bounds how many strings an expression compares with each group of a user,
	// and maxGroupLiteral the length of these strings, so that a user may be in 10,000 groups.
	maxGroupComparisons = 8
	maxGroupLiteral     = 64
	maxLiteral          = 256
	maxDepth            = 20
)

// pushDown returns a match condition for the webhook of some policies, so that API servers do not
// call it for requests that the match conditions of all of them exclude. It is true for each
// request that meets the match conditions of one of the policies, and for others if an API server
// cannot evaluate all of these conditions. It cannot fail. pushDown returns the empty string if the
// condition would be true for all requests, or would cost too much.
func pushDown(members []*member) string {
	// Many policies have the same conditions.
	alternatives := map[string]bool{}
	comparisons := 0
	for _, m := range members {
		var all []string
		cost := 0
		for _, c := range m.conditions {
			if text, n, ok := pushable(c.Expression); ok {
				all = append(all, text)
				cost += n
			}
		}
		alternative := strings.Join(all, " && ")
		if alternative == "" {
			return ""
		}
		if !alternatives[alternative] {
			alternatives[alternative] = true
			comparisons += cost
		}
	}
	// userInfo lacks empty fields, and to read a missing field is an error.
	pushed := strings.Join(append([]string{"!has(request.userInfo.username)", "!has(request.userInfo.groups)"}, slices.Sorted(maps.Keys(alternatives))...), " || ")
	if len(pushed) > maxPushed || comparisons > maxGroupComparisons {
		return ""
	}
	return pushed
}

// pushable returns an expression for API servers that has the value of a match condition, in
// parentheses, and how often it compares a string with each group of the user. It returns false for
// expressions that may fail, that read anything but a few fields of request, or that use functions
// it does not know.
func pushable(condition string) (_ string, comparisons int, ok bool) {
	if len(condition) > maxPushed {
		return "", 0, false
	}
	parsed, issues := withoutMacros.Parse(condition)
	if issues.Err() != nil {
		return "", 0, false
	}
	c := checker{}
	if c.typeOf(parsed.NativeRep().Expr(), 0) != boolean {
		return "", 0, false
	}
	// The text of the policy may have comments.
	text, err := parser.Unparse(parsed.NativeRep().Expr(), parsed.NativeRep().SourceInfo())
	return "(" + text + ")", c.comparisons, err == nil
}

// withoutMacros parses exists() and all() as functions.
var withoutMacros = func() *cel.Env {
	env, err := cel.NewCustomEnv(cel.ClearMacros())
	if err != nil {
		panic(err) // cannot happen: the environment is empty
	}
	return env
}()

type valueType int

const (
	unknown valueType = iota
	boolean
	text
	textList
)

// fields are the fields of request that every request has, apart from those of an empty userInfo.
var fields = map[string]valueType{
	"request.operation":         text,
	"request.kind.group":        text,
	"request.kind.version":      text,
	"request.kind.kind":         text,
	"request.resource.group":    text,
	"request.resource.version":  text,
	"request.resource.resource": text,
	"request.userInfo.username": text,
	"request.userInfo.groups":   textList,
}

// checker finds the types of expressions that cannot fail.
type checker struct {
	// group is the variable of the surrounding exists() or all(), or empty.
	group       string
	comparisons int
}

// typeOf returns the type of the value of an expression, or unknown if it may fail.
func (c *checker) typeOf(e ast.Expr, depth int) valueType {
	if depth++; depth > maxDepth {
		return unknown
	}
	switch e.Kind() {
	case ast.LiteralKind:
		switch value := e.AsLiteral().(type) {
		case types.Bool:
			return boolean
		case types.String:
			if len(value) <= maxGroupLiteral || c.group == "" && len(value) <= maxLiteral {
				return text
			}
		}
	case ast.IdentKind:
		if c.group != "" && e.AsIdent() == c.group {
			return text
		}
	case ast.SelectKind:
		return fields[path(e)]
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			if element.Kind() != ast.LiteralKind || c.typeOf(element, depth) != text {
				return unknown
			}
		}
		if len(e.AsList().OptionalIndices()) == 0 {
			return textList
		}
	case ast.CallKind:
		return c.call(e.AsCall(), depth)
	}
	return unknown
}

func (c *checker) call(call ast.CallExpr, depth int) valueType {
	if call.IsMemberFunction() {
		return c.member(call.FunctionName(), call.Target(), call.Args(), depth)
	}
	var operands []valueType
	for _, a := range call.Args() {
		operands = append(operands, c.typeOf(a, depth))
	}
	are := func(types ...valueType) bool { return slices.Equal(operands, types) }
	switch call.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		if !slices.ContainsFunc(operands, func(t valueType) bool { return t != boolean }) {
			return boolean
		}
	case operators.LogicalNot:
		if are(boolean) {
			return boolean
		}
	case operators.Equals, operators.NotEquals:
		if are(text, text) || are(boolean, boolean) {
			c.compare()
			return boolean
		}
	case operators.In:
		if are(text, textList) {
			c.compare()
			if list := call.Args()[1]; list.Kind() == ast.SelectKind {
				c.comparisons++
			} else if c.group != "" {
				c.comparisons += list.AsList().Size()
			}
			return boolean
		}
	case operators.Conditional:
		if are(boolean, boolean, boolean) || are(boolean, text, text) {
			return operands[1]
		}
	}
	return unknown
}

// compare counts a comparison that is repeated for each group.
func (c *checker) compare() {
	if c.group != "" {
		c.comparisons++
	}
}

func (c *checker) member(function string, target ast.Expr, args []ast.Expr, depth int) valueType {
	switch function {
	case "startsWith", "endsWith", "contains", "matches":
		if len(args) != 1 || args[0].Kind() != ast.LiteralKind || c.typeOf(args[0], depth) != text || c.typeOf(target, depth) != text {
			return unknown
		}
		// These cost up to the product of both lengths.
		if c.group != "" && (function == "contains" || function == "matches") {
			return unknown
		}
		if function == "matches" {
			if _, err := regexp.Compile(string(args[0].AsLiteral().(types.String))); err != nil {
				return unknown
			}
		}
		c.compare()
		return boolean
	case "exists", "all":
		if c.group != "" || path(target) != "request.userInfo.groups" || len(args) != 2 || args[0].Kind() != ast.IdentKind {
			return unknown
		}
		// Names of other variables, and of those that macros declare, have another meaning in the body.
		if c.group = args[0].AsIdent(); c.group == "request" || strings.ContainsAny(c.group[:1], "_.@") {
			return unknown
		}
		body := c.typeOf(args[1], depth)
		c.group = ""
		if body == boolean {
			return boolean
		}
	}
	return unknown
}

// path returns the path of a field, such as request.operation, and the empty string for other
// expressions.
func path(e ast.Expr) string {
	if e.Kind() == ast.IdentKind {
		return e.AsIdent()
	}
	if e.Kind() != ast.SelectKind || e.AsSelect().IsTestOnly() {
		return ""
	}
	operand := path(e.AsSelect().Operand())
	if operand == "" {
		return ""
	}
	return operand + "." + e.AsSelect().FieldName()
}
