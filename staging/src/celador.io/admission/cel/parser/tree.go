// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"github.com/google/cel-go/common/ast"
)

// A tree is the state of parsing one expression.
type tree struct {
	*Parser
	source string
	// tokens are those that have not been parsed. The first is the next one.
	tokens  []token
	factory ast.ExprFactory
	// positions holds the positions of the nodes in the order of their IDs, of which the first is
	// 1.
	positions []ast.OffsetRange
	// depth is the number of expressions around the current token.
	depth int
	// height is the height of the tree that was parsed last, with its parentheses.
	height int
}

// removed is the position of a node that a macro has replaced.
var removed = ast.OffsetRange{Start: -1, Stop: -1}

// id returns the ID of a new node at the position of a token.
func (t *tree) id(at token) int64 { return t.newID(ast.OffsetRange{Start: at.start, Stop: at.stop}) }

func (t *tree) newID(position ast.OffsetRange) int64 {
	t.positions = append(t.positions, position)
	return int64(len(t.positions))
}

// remove removes the position of a node. As in cel-go, the last ID is used again.
func (t *tree) remove(id int64) {
	t.positions[id-1] = removed
	if id == int64(len(t.positions)) {
		t.positions = t.positions[:id-1]
	}
}

func (t *tree) peek() token { return t.tokens[0] }

// next consumes the next token and returns it. The token is not the end.
func (t *tree) next() token {
	next := t.tokens[0]
	t.tokens = t.tokens[1:]
	return next
}

func (t *tree) text(of token) string { return t.source[of.start:of.stop] }

// at reports whether the next token is a symbol.
func (t *tree) at(s string) bool { return t.isSymbol(t.peek(), s) }

func (t *tree) isSymbol(tok token, s string) bool { return tok.kind == symbol && t.text(tok) == s }

// accept consumes a symbol if it is next, and reports whether it is.
func (t *tree) accept(s string) bool {
	is := t.at(s)
	if is {
		t.next()
	}
	return is
}

// want consumes a symbol and returns it. It declines the expression if another token is next.
func (t *tree) want(s string) token {
	if !t.at(s) {
		panic(declined{})
	}
	return t.next()
}

// name consumes an identifier and returns it. It declines the expression if another token is next.
func (t *tree) name() token {
	if t.peek().kind != identifier {
		panic(declined{})
	}
	return t.next()
}

// maxHeight bounds how deep expressions are nested while they are parsed (depth), and how high
// their trees are (height). A Parser declines expressions beyond. The bound is lower than that of
// cel-go's parser, 250, which counts in another way.
const maxHeight = 200

// descend enters an expression. It declines the expression if there are too many around it.
func (t *tree) descend() {
	if t.depth++; t.depth > maxHeight {
		panic(declined{})
	}
}

// grow sets the height of the tree after a node was put above two trees: the one that was parsed
// last, and one whose height is other.
func (t *tree) grow(other int) { t.enclose(max(t.height, other)) }

// enclose sets the height after a node was put above trees of at most the given height. It declines
// the expression if the tree gets too high.
func (t *tree) enclose(height int) {
	if t.height = height + 1; t.height > maxHeight {
		panic(declined{})
	}
}
