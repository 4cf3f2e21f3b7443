// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package costbound

import (
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/internal/syntax"
)

const (
	read  = common.StringTraversalCostFactor
	write = 2 * read
	// maxPattern is longer than the pattern of each named format.
	maxPattern = 100
	// scalarText is longer than the text of a number, time or duration.
	scalarText = 48
)

// function returns the estimate of the result of a call, and the cost of the call without that of
// its arguments.
func (e *estimate) function(function string, id int64, operands []ast.Expr, args []value) (value, float64) {
	scalarResult := value{kind: scalar}
	if len(args) == 0 {
		return scalarResult, e.each(1)
	}
	first := args[0]
	second := value{kind: scalar}
	if len(args) > 1 {
		second = args[1]
	}
	units := func(s size) float64 { return e.each(1) + s.over(e.context) }
	// Costs are rounded up, each factor of a product by itself.
	rounded := func(s size, factor float64) size { return s.times(factor).plus(one) }

	switch function {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		if key, ok := syntax.Text(operands[1]); ok {
			return e.fieldOf(first, key), e.each(1)
		}
		return e.valueOf(first, second), e.each(1)
	case "first", "last":
		return e.entryOf(first), e.each(1)
	case "dyn", "optional.of", "optional.ofNonZeroValue", "value", "optional.unwrap", "unwrapOpt":
		return first, e.each(1)
	case "or", "orValue":
		return oneOf(first, second), e.each(1)
	case "size":
		return value{kind: scalar, sized: &first}, e.each(1)
	case "optional.none", "hasValue", "type", operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.NotStrictlyFalse,
		operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate:
		return scalarResult, e.each(1)
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return scalarResult, e.each(1) + min(rounded(e.sizeOf(first), read).over(e.context), rounded(e.sizeOf(second), read).over(e.context))
	case operators.In:
		if second.kind == part && second.declared != nil && second.declared.IsMap() {
			return scalarResult, e.each(1)
		}
		return scalarResult, units(e.sizeOf(second))
	case operators.Add:
		return e.add(id, args, units)
	case "cel.@mapInsert":
		return e.insert(args), e.each(1)
	case "lowerAscii", "upperAscii", "trim", "substring", "charAt":
		return text(e.sizeOf(first)), units(rounded(e.sizeOf(first), read))
	case "replace":
		return text(e.replaced(operands, args)), units(rounded(e.sizeOf(first), write))
	case "split":
		return e.parts(e.sizeOf(first)), units(rounded(e.sizeOf(first), write))
	case "findAll", "regex.extractAll":
		return e.parts(e.sizeOf(first)), units(e.pattern(e.sizeOf(first), e.sizeOf(second)))
	case "join":
		joined := e.joined(first, second)
		return text(joined), units(rounded(joined, write))
	case "format":
		return text(e.sizeOf(first).plus(e.content(second))), units(rounded(e.sizeOf(first), read))
	case "matches", "find", "regex.extract":
		return text(e.sizeOf(first)), units(e.pattern(e.sizeOf(first), e.sizeOf(second)))
	case "validate":
		return e.parts(e.sizeOf(second)), units(e.pattern(e.sizeOf(second), constant(maxPattern)))
	case "contains":
		return scalarResult, units(rounded(e.sizeOf(first), read).product(rounded(e.sizeOf(second).separate(e.context), read)))
	case "sets.contains", "sets.intersects", "sets.equivalent":
		return scalarResult, units(e.sizeOf(first).product(e.sizeOf(second).separate(e.context)).times(2))
	case "distinct", "sort", "@sortByAssociatedKeys":
		compared := e.sizeOf(args[len(args)-1])
		return first, e.each(2+common.ListCreateBaseCost) + units(compared.product(compared.separate(e.context)).times(2+read))
	case "slice", "reverse":
		return first, e.each(2+common.ListCreateBaseCost) + units(e.sizeOf(first))
	case "flatten":
		return e.flattened(first), e.each(2+common.ListCreateBaseCost) + units(e.sizeOf(first).times(maxDepth(operands)))
	case "lists.range":
		indices := e.indices(operands, first)
		return indices, e.each(2+common.ListCreateBaseCost) + units(indices.size)
	case "string":
		if e.resultOf(operands[0].ID()).Kind() == types.StringKind || first.kind == part || first.kind == made {
			return text(e.sizeOf(first).plus(constant(scalarText))), units(rounded(e.sizeOf(first), read))
		}
		return text(constant(scalarText)), e.each(2)
	case "merge", "set", "remove", "removeAll":
		read := one
		for _, argument := range args {
			read = read.plus(e.sizeOf(argument))
		}
		changed := first
		switch function {
		case "merge":
			changed = oneOf(args...)
		case "set":
			changed = e.insert(args)
		}
		return changed, e.each(2+common.MapCreateBaseCost) + units(read)
	case "toText":
		return text(constant(scalarText)), e.each(2)
	case "base64.encode", "base64.decode":
		return text(rounded(e.sizeOf(first), 2).plus(constant(4))), units(rounded(e.sizeOf(first), write))
	case "regex.replace":
		result := e.sizeOf(first)
		if len(args) > 2 {
			result = result.plus(result.plus(one).product(e.sizeOf(args[2]).separate(e.context)))
		}
		return text(result), units(e.pattern(e.sizeOf(first), e.sizeOf(second)).plus(rounded(result, write)))
	case "json.encode":
		encoded := e.content(first)
		return text(encoded), units(rounded(encoded, write))
	}
	return e.unknown(function, id, args)
}

// indices returns the estimate of the list that lists.range(end) returns. The list is as long as
// the constant, if end is one, or as the value whose size() end is. Other numbers are assumed to be
// at most the number of characters of the object.
func (e *estimate) indices(operands []ast.Expr, end value) value {
	index := value{kind: scalar}
	n := constant(e.limits.Text)
	if end.sized != nil {
		n = e.sizeOf(*end.sized)
		if t := end.sized.declared; end.sized.kind == part && t != nil && t.IsList() {
			index.keyOf, index.in = t, n[0].dimensions[0]
		}
	} else if operands[0].Kind() == ast.LiteralKind {
		if literal, ok := operands[0].AsLiteral().(types.Int); ok {
			n = constant(float64(max(literal, 0)))
		}
	}
	return value{kind: made, size: n, entries: &index}
}

// unknown returns the estimates of the result and of the cost of a function that has no formula
// here. It assumes that the function reads all its arguments once, and that a result that is a text
// is hardly longer than the arguments together.
func (e *estimate) unknown(function string, id int64, args []value) (value, float64) {
	read := one
	in := args[0].in
	for _, argument := range args {
		read = read.plus(e.sizeOf(argument))
	}
	cost := e.each(1) + read.over(e.context)
	switch e.resultOf(id).Kind() {
	case types.BoolKind, types.IntKind, types.UintKind, types.DoubleKind, types.DurationKind, types.TimestampKind, types.NullTypeKind, types.TypeKind:
		return value{kind: scalar}, cost
	case types.StringKind, types.BytesKind:
		return text(read.plus(constant(scalarText))), cost
	default:
		return value{kind: part, in: in}, cost
	}
}

// resultOf returns the static type of a subexpression.
func (e *estimate) resultOf(id int64) *types.Type {
	t := e.GetType(id)
	if t.Kind() == types.OpaqueKind && len(t.Parameters()) == 1 {
		return t.Parameters()[0]
	}
	return t
}

// pattern returns the cost of matching a text with a regular expression.
func (*estimate) pattern(text, pattern size) size {
	return text.plus(one).times(read).plus(one).product(pattern.times(common.RegexStringLengthCostFactor).plus(one))
}

// add returns the estimate of the sum of numbers, texts or lists, and the cost of the addition.
func (e *estimate) add(id int64, args []value, units func(size) float64) (value, float64) {
	first, second := args[0], args[1]
	switch e.resultOf(id).Kind() {
	case types.StringKind, types.BytesKind:
		sum := e.sizeOf(first).plus(e.sizeOf(second))
		return text(sum), units(sum.times(read).plus(one))
	case types.ListKind:
		return oneOf(first, second), e.each(1)
	case types.DynKind:
		sum := e.sizeOf(first).plus(e.sizeOf(second))
		return oneOf(first, second, text(sum)), units(sum.times(read).plus(one))
	default:
		return value{kind: scalar}, e.each(1)
	}
}

// insert returns the estimate of a map with another entry, or with the entries of a map literal.
func (e *estimate) insert(args []value) value {
	entry := args[len(args)-1]
	if len(args) == 2 {
		entry = e.entryOf(entry)
		return oneOf(args[0], value{kind: made, size: e.sizeOf(args[1]), entries: &entry})
	}
	return oneOf(args[0], value{kind: made, size: one, entries: &entry})
}

// replaced returns the size of the result of replace.
func (e *estimate) replaced(operands []ast.Expr, args []value) size {
	s := e.sizeOf(args[0])
	if len(args) < 3 {
		return s
	}
	old, oldIsConstant := syntax.Text(operands[1])
	replacement, isConstant := syntax.Text(operands[2])
	if isConstant && oldIsConstant && old != "" && len(replacement) <= len(old) {
		return s
	}
	return s.plus(s.plus(one).product(e.sizeOf(args[2]).separate(e.context)))
}

// parts returns the estimate of the list that a function such as split makes of the parts of a
// text. s is the size of the text.
func (e *estimate) parts(s size) value {
	d := s.dimension(e.context)
	d.each, d.total = d.each+1, d.total+1
	if d.parent != nil {
		d.total += d.parent.total
	}
	characters := &dimension{parent: d, each: d.each, total: d.total}
	return value{kind: made, size: size{{1, dimensions{d}}}, entries: new(text(size{{1, dimensions{characters}}}))}
}

// joined returns the size of a text that joins the texts of a list.
func (e *estimate) joined(list, separator value) size {
	joined := one
	for _, l := range e.loops(list) {
		count := size{{1, dimensions{l.dimension}}}
		joined = joined.plus(count.product(e.sizeOf(l.entry)), count.product(e.sizeOf(separator)))
	}
	return joined
}

// flattened returns the estimate of the list of all elements of the lists in a list.
func (e *estimate) flattened(list value) value {
	var flat []value
	for _, outer := range e.loops(list) {
		for _, inner := range outer.entry.each() {
			if inner.kind == scalar {
				continue
			}
			for _, l := range e.loops(inner) {
				flat = append(flat, value{kind: made, size: e.flatSize(outer, l), entries: &l.entry})
			}
		}
	}
	return oneOf(flat...)
}

// flatSize returns the number of all entries of the lists in a list. outer is a loop over the list,
// and inner a loop over one of the lists in it.
func (e *estimate) flatSize(outer, inner loop) size {
	if (dimensions{outer.dimension}).parent(inner.dimension) != nil {
		return size{{1, dimensions{inner.dimension}}}
	}
	if inner.total == 1 {
		return size{{1, dimensions{outer.dimension}}}
	}
	return size{{1, dimensions{outer.dimension, inner.dimension}}}
}

// maxDepth returns the highest depth to which flatten, with these operands, flattens a list.
func maxDepth(operands []ast.Expr) float64 {
	const unknown = 100
	if len(operands) < 2 {
		return 1
	}
	if operands[1].Kind() == ast.LiteralKind {
		if depth, ok := operands[1].AsLiteral().(types.Int); ok {
			return float64(max(depth, 1))
		}
	}
	return unknown
}
