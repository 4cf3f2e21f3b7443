// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"celador.io/admission/cel/internal/syntax"
)

const (
	// maxPresenceDepth bounds the selections in one has(), and maxPresenceCopies the nodes that
	// expandPresence copies for an expression. The copies grow with the square of the depth, and
	// the time to check them with its cube: 120 selections take two seconds.
	maxPresenceDepth  = 32
	maxPresenceCopies = 1 << 13
)

// expandPresence makes has() safe where an object on the way to the field is unset: 'has(self.a.b)'
// becomes 'has(self.a) && has(self.a.b)'. It rewrites has() of paths from self, root and the
// variables of comprehensions in place, and reports whether there was one. New nodes have the
// positions of those that they replace. The expression is refused with an issue if it would become
// too large.
func expandPresence(parsed *cel.Ast) (found bool, issues *cel.Issues) {
	tree := parsed.NativeRep()
	variables := map[string]bool{Self: true, Root: true}
	var tests []ast.Expr
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ComprehensionKind:
			c := e.AsComprehension()
			variables[c.IterVar()], variables[c.AccuVar()] = true, true
			if c.HasIterVar2() {
				variables[c.IterVar2()] = true
			}
		case ast.SelectKind:
			if e.AsSelect().IsTestOnly() {
				tests = append(tests, e)
			}
		}
	}))
	r := presence{syntax.NewRewriter(tree)}
	copies := 0
	for _, test := range tests {
		parent := test.AsSelect().Operand()
		if parent.Kind() != ast.SelectKind || !variables[rootOf(parent)] {
			continue
		}
		depth := depthOf(parent)
		if copies += depth * depth / 2; depth >= maxPresenceDepth || copies > maxPresenceCopies {
			return found, syntax.NewIssue(parsed, test.ID(), "the expression is too large: has() copies the path to the field for each object on the way. "+
				"Write self.?a.?b.hasValue() instead of has(self.a.b)")
		}
		found = true
		own := r.NewPresenceTest(r.NewID(test), parent, test.AsSelect().FieldName())
		test.SetKindCase(r.NewCall(test.ID(), operators.LogicalAnd, r.isSet(parent), own))
	}
	return found, nil
}

// depthOf returns the number of selections in a row, such as 2 for self.a.b.
func depthOf(e ast.Expr) int {
	depth := 0
	for ; e.Kind() == ast.SelectKind; e = e.AsSelect().Operand() {
		depth++
	}
	return depth
}

// rootOf returns the variable that selections start from, or "" if they start from something else.
func rootOf(e ast.Expr) string {
	for e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly() {
		e = e.AsSelect().Operand()
	}
	if e.Kind() != ast.IdentKind {
		return ""
	}
	return e.AsIdent()
}

// presence makes expressions that test whether fields are set.
type presence struct{ *syntax.Rewriter }

// isSet returns an expression that is true if a selected field and all fields on the way to it are
// set.
func (r presence) isSet(selected ast.Expr) ast.Expr {
	s := selected.AsSelect()
	test := r.NewPresenceTest(r.NewID(selected), r.copy(s.Operand()), s.FieldName())
	if s.Operand().Kind() != ast.SelectKind {
		return test
	}
	return r.NewCall(r.NewID(selected), operators.LogicalAnd, r.isSet(s.Operand()), test)
}

// copy returns a copy of the selections in e. The copied nodes have new IDs.
func (r presence) copy(e ast.Expr) ast.Expr {
	if e.Kind() == ast.IdentKind {
		return r.NewIdent(r.NewID(e), e.AsIdent())
	}
	return r.NewSelect(r.NewID(e), r.copy(e.AsSelect().Operand()), e.AsSelect().FieldName())
}
