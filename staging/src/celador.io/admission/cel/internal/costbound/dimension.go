// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package costbound

import (
	"slices"
)

// A dimension is the set of all entries of lists or maps, or of all characters, to which one path
// through the object leads, such as the members of all groups in self.groups[*].members. Its sizes
// are upper bounds.
type dimension struct {
	// parent is the dimension of the list or map that contains these lists, maps or texts: the
	// groups, for members of groups. It is nil if none contains them.
	parent *dimension
	// each is the highest number of elements within one element of parent, such as members of one
	// group, and total the highest number in the object.
	each, total float64
}

// within returns a dimension with the given parent. bound is the limit of the schema for one list,
// map or text, or negative if it declares none. size is the limit for the whole object.
func within(parent *dimension, bound int64, size float64) *dimension {
	d := &dimension{parent: parent, each: size, total: size}
	if bound >= 0 {
		d.each = min(d.each, float64(bound))
	}
	if parent == nil {
		d.total = d.each
	} else {
		d.total = min(d.total, parent.total*d.each)
	}
	return d
}

// A move replaces the dimension from by the dimension to in the estimate of a value. A loop over a
// list that the expression has constructed counts its iterations with a dimension of its own, which
// is to; the estimates of the list's entries depend on the dimension of the list's size, which is
// from. Dimensions whose ancestor is from are copied to have the ancestor to. Each is copied once,
// so that values that had a dimension in common still do.
type move struct {
	from, to *dimension
	moved    map[*dimension]*dimension
}

// of returns the dimension that replaces d: to if d is from, a copy if d is a descendant of from,
// and otherwise d itself.
func (m *move) of(d *dimension) *dimension {
	switch d {
	case nil:
		return nil
	case m.from:
		return m.to
	}
	if moved, ok := m.moved[d]; ok {
		return moved
	}
	moved := d
	if parent := m.of(d.parent); parent != d.parent {
		moved = &dimension{parent: parent, each: d.each, total: d.total}
	}
	m.moved[d] = moved
	return moved
}

// dimensions is a set of dimensions. Its size is the number of combinations of one element of each
// dimension. A combination of a group and a member of a group counts only if the member belongs to
// that group.
type dimensions []*dimension

func (s dimensions) with(others ...*dimension) dimensions {
	all := slices.Clip(s)
	for _, d := range others {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// parent returns the nearest ancestor of d in the set, or nil.
func (s dimensions) parent(d *dimension) *dimension {
	for at := d.parent; at != nil; at = at.parent {
		if slices.Contains(s, at) {
			return at
		}
	}
	return nil
}

// count returns the highest number of combinations in an object.
func (s dimensions) count() float64 {
	product := 1.0
	for _, d := range s {
		if s.parent(d) == nil {
			product *= s.all(d)
		}
	}
	return product
}

// countIn returns the size of the set within one iteration of the loops around an expression: the
// highest number of combinations of one element of each dimension in s. context holds the
// dimensions over which these loops iterate. Within one iteration, each dimension of context has
// one element.
func (s dimensions) countIn(context dimensions) float64 {
	product := 1.0
	for _, d := range s {
		switch {
		case slices.Contains(context, d) || s.parent(d) != nil && !slices.Contains(context, s.parent(d)):
		case context.parent(d) != nil:
			product *= s.each(d)
		default:
			product *= s.all(d)
		}
	}
	return product
}

// all returns the number of combinations of d and its descendants in the set.
func (s dimensions) all(d *dimension) float64 { return s.combinations(d, d.total) }

// each returns the number of those combinations within one element of d's parent.
func (s dimensions) each(d *dimension) float64 { return s.combinations(d, d.each) }

// combinations returns the highest number of combinations of one element of d and one of each
// descendant of d in the set. own is the number of elements of d. The result is the least of these
// upper bounds: own times the combinations that one element of d can contain, and, for each child
// of d in the set, the combinations of the child in the whole object times those of the other
// children that one element of d can contain.
func (s dimensions) combinations(d *dimension, own float64) float64 {
	var inside []*dimension
	for _, other := range s {
		if s.parent(other) == d {
			inside = append(inside, other)
		}
	}
	best := own
	for _, other := range inside {
		best *= s.each(other)
	}
	for _, counted := range inside {
		product := s.all(counted)
		for _, other := range inside {
			if other != counted {
				product *= s.each(other)
			}
		}
		best = min(best, product)
	}
	return best
}

// A term is a factor times the number of combinations of dimensions.
type term struct {
	factor float64
	dimensions
}

// A size is a sum of terms: the size of a value, or a cost, that depends on the object.
type size []term

var one = size{{factor: 1}}

func constant(n float64) size { return size{{factor: n}} }

// maxTerms bounds the terms of a size. Further ones become a constant.
const maxTerms = 24

func (s size) plus(others ...size) size {
	sum := slices.Clip(s)
	for _, other := range others {
		sum = append(sum, other...)
	}
	if len(sum) <= maxTerms {
		return sum
	}
	rest := sum[maxTerms-1:]
	return append(slices.Clip(sum[:maxTerms-1]), term{factor: rest.in(nil)})
}

func (s size) times(factor float64) size {
	product := make(size, len(s))
	for i, t := range s {
		product[i] = term{t.factor * factor, t.dimensions}
	}
	return product
}

// product returns the size of all pairs of an element of s and one of other.
func (s size) product(other size) size {
	var product size
	for _, a := range s {
		for _, b := range other {
			product = append(product, term{a.factor * b.factor, a.dimensions.with(b.dimensions...)})
		}
	}
	return product.plus()
}

// in returns the highest value of the sum in one iteration of the loops in context.
func (s size) in(context dimensions) float64 {
	sum := 0.0
	for _, t := range s {
		sum += t.factor * t.countIn(context)
	}
	return sum
}

// over returns the highest value of the sum over all iterations of the loops in context.
func (s size) over(context dimensions) float64 {
	sum := 0.0
	for _, t := range s {
		sum += t.factor * context.with(t.dimensions...).count()
	}
	return sum
}

// separate returns the size of a second value by which the size of a first value is multiplied. The
// two may be the same value, as in sets.contains(l, l), which compares every entry with every
// entry. product counts a dimension of both factors only once, as if each entry were compared with
// itself alone, so separate copies the dimensions. It keeps those in context, which have one
// element in each iteration.
func (s size) separate(context dimensions) size {
	return s.replaced(func(d *dimension) *dimension {
		if slices.Contains(context, d) {
			return d
		}
		return new(*d)
	})
}

// replaced returns the size with by(d) in place of each dimension d.
func (s size) replaced(by func(*dimension) *dimension) size {
	other := make(size, len(s))
	for i, t := range s {
		other[i].factor = t.factor
		for _, d := range t.dimensions {
			other[i].dimensions = append(other[i].dimensions, by(d))
		}
	}
	return other
}

// dimension returns a dimension with as many elements as the size, to count the iterations of a
// loop over a list or map that the expression constructs.
func (s size) dimension(context dimensions) *dimension {
	if len(s) == 1 && len(s[0].dimensions) == 1 {
		d := s[0].dimensions[0]
		return &dimension{parent: d.parent, each: d.each * s[0].factor, total: d.total * s[0].factor}
	}
	n := s.in(context)
	return &dimension{each: n, total: n}
}
