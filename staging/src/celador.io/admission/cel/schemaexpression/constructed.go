// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/syntax"
)

// SetsField reports whether every result of the expression determines the field at a path in it: a
// constructed object that names the field, or a value that is not a constructed object. A
// constructed object that does not name it leaves the field as it is. The path has the names of
// fields as schemas spell them. SetsField returns false if it cannot tell.
func (x *Expression) SetsField(path []string) bool {
	c, err := x.constructed()
	return err == nil && c.every(c.Expr(), path, true)
}

// KeepsField reports whether every result of the expression is a constructed object that leaves the
// field at a path in it as it is. The path has the names of fields as schemas spell them.
// KeepsField returns false if it cannot tell.
func (x *Expression) KeepsField(path []string) bool {
	c, err := x.constructed()
	return err == nil && c.every(c.Expr(), path, false)
}

func (x *Expression) constructed() (constructed, error) {
	checked, err := x.ast()
	if err != nil {
		return constructed{}, err
	}
	c := constructed{AST: checked.NativeRep(), scope: &x.environment.scope, names: map[string]bool{}}
	resolver := c.scope.Types
	ast.PostOrderVisit(c.Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		t := c.GetType(node.ID())
		if node.Kind() == ast.StructKind {
			c.names[t.TypeName()] = true
		} else if node.Kind() == ast.IdentKind && strings.HasPrefix(node.AsIdent(), sharedPrefix) && t.Kind() == types.DynKind {
			c.readsShared = true
		} else if resolver != nil && t.Kind() == types.StructKind {
			// A shared variable may hold an object that is constructed outside of the expression.
			_, own := resolver.Resolve(t.TypeName())
			// Constructed objects with the type of objects of self have nullable types.
			_, shared := resolver.Resolve(types.NewNullableType(t).DeclaredTypeName())
			if own || shared {
				c.names[t.TypeName()] = true
			}
		}
	}))
	return c, nil
}

// constructed analyzes which objects a checked expression constructs as its results, and which of
// their fields it sets.
type constructed struct {
	*ast.AST
	scope *Scope
	// names holds the type names of these objects.
	names map[string]bool
	// readsShared is set if the expression reads a shared variable of dynamic type.
	readsShared bool
}

// every analyzes all results of an expression. If set is true, it reports whether each of them
// determines the field at a path. Otherwise it reports whether each is a constructed object that
// leaves the field as it is.
func (c constructed) every(e ast.Expr, path []string, set bool) bool {
	switch {
	case len(path) == 0:
		return set
	case set && !c.mayConstruct(e):
		return true
	case e.Kind() == ast.StructKind:
		value := fieldOf(e.AsStruct(), path[0])
		return value == nil && !set || value != nil && c.every(value, path[1:], set)
	}
	results := resultsOf(e)
	return len(results) > 0 && !slices.ContainsFunc(results, func(result ast.Expr) bool { return !c.every(result, path, set) })
}

// mayConstruct reports whether the value of an expression, or the value in its optionals, may be a
// constructed object.
func (c constructed) mayConstruct(e ast.Expr) bool {
	t := c.GetType(e.ID())
	for syntax.IsOptional(t) {
		t = t.Parameters()[0]
	}
	if !c.names[t.TypeName()] && (t.Kind() != types.DynKind || len(c.names) == 0 && !c.readsShared) {
		return false
	}
	return syntax.Contains(e, func(node ast.Expr) bool {
		// A variable may stand for an object that is constructed outside of the expression.
		return node.Kind() == ast.StructKind || node.Kind() == ast.IdentKind && c.scope.declared(node.AsIdent()) == nil
	})
}

// fieldOf returns the expression that sets a field of a constructed object, as in T{name: value},
// or nil if the object does not set the field.
func fieldOf(object ast.StructExpr, name string) ast.Expr {
	for _, entry := range object.Fields() {
		field := entry.AsStructField()
		if property, ok := apiservercel.Unescape(field.Name()); ok && property == name || field.Name() == name {
			return field.Value()
		}
	}
	return nil
}

// resultsOf returns the subexpressions whose values an expression passes on, such as the branches
// of a conditional. It returns none if the expression makes a value of its own.
func resultsOf(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Conditional:
			return call.Args()[1:]
		case "dyn", "optional.of", "or", "orValue":
			return syntax.Operands(call)
		}
	case ast.ComprehensionKind:
		if c := e.AsComprehension(); syntax.IsBinding(c) {
			return []ast.Expr{c.Result()}
		}
	}
	return nil
}
