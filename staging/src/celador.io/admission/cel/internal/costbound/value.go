// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package costbound

import (
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// A value is the estimate of the value of a subexpression. It says which list, map or text of the
// object the value is read from, or how large the value is that the subexpression constructs. An
// optional is estimated as the value that it holds.
type value struct {
	kind kind
	// declared is the type of a part. It is nil for a part of any type.
	declared *apiservercel.DeclType
	// in is the dimension of the innermost list or map that contains the value, if it is a part of
	// the object: that of self.groups for a group g in self.groups.map(g, g.name). It is nil for
	// parts outside of all lists and maps.
	in *dimension
	// keyOf is set for the key or index of a loop: the type of the map or list that it belongs to.
	keyOf *apiservercel.DeclType
	// sized is x if the value is size(x), and nil for other values.
	sized *value
	// size is the number of characters or entries of a made text, list or map.
	size size
	// entries is the estimate of every entry of a made list or map. It is nil for texts.
	entries *value
	// fields are the fields of a made object or of a map literal.
	fields map[string]value
	// alternatives are the estimates of the branches of a conditional, or of the lists of a sum.
	alternatives []value
}

type kind int

const (
	// part is a part of the object, or a value of unknown type and size that is derived from one.
	part kind = iota
	// scalar has the size 1.
	scalar
	// made is a text, list or map that the expression makes.
	made
	// object is a constructed object, or a map literal with constant keys.
	object
	// either is one of several values, or a list whose entries are those of several lists.
	either
)

// maxAlternatives bounds the alternatives of a value, each of which a loop visits.
const maxAlternatives = 16

// oneOf returns the estimate of a value to which one of the given estimates applies, such as those
// of the branches of a conditional, or of the entries of a list literal. It leaves out scalars and
// empty literals, which cost no more than any other value.
func oneOf(values ...value) value {
	var all []value
	for _, v := range values {
		switch {
		case v.kind == either:
			all = append(all, v.alternatives...)
		case v.kind != scalar && !v.isEmpty():
			all = append(all, v)
		}
	}
	switch {
	case len(values) == 1 && values[0].kind == scalar:
		return values[0]
	case len(all) == 0:
		return value{kind: scalar}
	case len(all) == 1:
		return all[0]
	case len(all) > maxAlternatives:
		return value{}
	default:
		return value{kind: either, alternatives: all}
	}
}

// isEmpty reports whether the value is an empty literal.
func (v value) isEmpty() bool { return v.kind == made && len(v.size) == 1 && v.size[0].factor == 0 }

func text(s size) value { return value{kind: made, size: s} }

// moved returns v with one dimension, a set of entries or characters, replaced by another, as m
// says, in v itself and in all estimates that v holds. Each of them counts towards maxSteps,
// because an estimate that several others hold is copied for each of them.
func (e *estimate) moved(v value, m *move) value {
	if e.steps++; e.steps > maxSteps {
		return value{}
	}
	v.in = m.of(v.in)
	v.size = v.size.replaced(m.of)
	if v.entries != nil {
		v.entries = new(e.moved(*v.entries, m))
	}
	if v.sized != nil {
		v.sized = new(e.moved(*v.sized, m))
	}
	if v.fields != nil {
		fields := make(map[string]value, len(v.fields))
		for name, field := range v.fields {
			fields[name] = e.moved(field, m)
		}
		v.fields = fields
	}
	if v.alternatives != nil {
		alternatives := make([]value, len(v.alternatives))
		for i, alternative := range v.alternatives {
			alternatives[i] = e.moved(alternative, m)
		}
		v.alternatives = alternatives
	}
	return v
}

// sizeOf returns the number of characters or entries of a value.
func (e *estimate) sizeOf(v value) size {
	switch v.kind {
	case made:
		return v.size
	case object:
		return constant(float64(max(len(v.fields), 1)))
	case either:
		var sum size
		for _, alternative := range v.alternatives {
			sum = sum.plus(e.sizeOf(alternative))
		}
		return sum
	case part:
		if d := e.extent(v); d != nil {
			return size{{1, dimensions{d}}}
		}
	}
	return one
}

// extent returns the entries or characters of a part of the object as a dimension. It returns nil
// for scalars and objects, which have the size 1.
func (e *estimate) extent(v value) *dimension {
	t := v.declared
	switch {
	case t == nil:
		return within(v.in, -1, e.limits.Text)
	case t.IsList(), t.IsMap():
		return within(v.in, t.MaxElements, e.limits.Entries)
	case t.IsObject():
		return nil
	}
	switch t.CelType().Kind() {
	case types.StringKind, types.BytesKind, types.DynKind, types.AnyKind:
		bound := t.MaxElements
		if bound == 0 {
			bound = -1 // Kubernetes sets no size for the keys of maps and for values of any type.
		}
		return within(v.in, bound, e.limits.Text)
	default:
		return nil
	}
}

// A loop is a loop over the entries of a list or map. Its dimension counts the iterations.
type loop struct {
	*dimension
	// key is the key in a map, or the index.
	key, entry value
}

// loops returns the loops that visit all entries of a value.
func (e *estimate) loops(v value) []loop {
	switch v.kind {
	case scalar:
		return nil
	case either:
		var all []loop
		for _, alternative := range v.alternatives {
			all = append(all, e.loops(alternative)...)
		}
		return all
	case object:
		n := float64(len(v.fields))
		fields := make([]value, 0, len(v.fields))
		for _, field := range v.fields {
			fields = append(fields, field)
		}
		return []loop{{&dimension{each: n, total: n}, text(constant(e.limits.Text)), oneOf(fields...)}}
	case made:
		if v.entries == nil {
			return nil
		}
		d := v.size.dimension(e.context)
		entry := *v.entries
		if len(v.size) == 1 && len(v.size[0].dimensions) == 1 {
			entry = e.moved(entry, &move{v.size[0].dimensions[0], d, map[*dimension]*dimension{}})
		}
		return []loop{{d, value{kind: part, in: d}, entry}}
	}
	switch t := v.declared; {
	case t != nil && t.IsList():
		d := e.extent(v)
		return []loop{{d, value{kind: scalar, in: d, keyOf: t}, value{kind: part, in: d, declared: t.ElemType}}}
	case t != nil && t.IsMap():
		d := e.extent(v)
		return []loop{{d, value{kind: part, in: d, declared: t.KeyType, keyOf: t}, value{kind: part, in: d, declared: t.ElemType}}}
	case t != nil && t.IsObject():
		return nil
	default:
		d := within(v.in, -1, e.limits.Entries)
		return []loop{{d, value{kind: part, in: d}, value{kind: part, in: d}}}
	}
}

// entryOf returns the estimate of an entry of a list or map, whichever it is.
func (e *estimate) entryOf(v value) value {
	var entries []value
	for _, l := range e.loops(v) {
		entries = append(entries, l.entry)
	}
	return oneOf(entries...)
}

// valueOf returns the estimate of v[key].
func (e *estimate) valueOf(v, key value) value {
	if v.kind == part && v.declared != nil && v.declared == key.keyOf && key.in != nil && key.in.parent == v.in {
		// The key is that of a loop over v, which reads each value once.
		return value{kind: part, declared: v.declared.ElemType, in: key.in}
	}
	return e.entryOf(v)
}

// fieldOf returns the estimate of v.name.
func (e *estimate) fieldOf(v value, name string) value {
	switch v.kind {
	case either:
		fields := make([]value, len(v.alternatives))
		for i, alternative := range v.alternatives {
			fields[i] = e.fieldOf(alternative, name)
		}
		return oneOf(fields...)
	case object:
		if field, ok := v.fields[name]; ok {
			return field
		}
		return value{kind: scalar}
	case part:
		if v.declared != nil && v.declared.IsObject() {
			if field, ok := v.declared.Fields[name]; ok {
				return value{kind: part, declared: field.Type, in: v.in}
			}
			return value{kind: part, in: v.in}
		}
	}
	return e.entryOf(v)
}

// content returns the number of characters that the JSON text of a value has at most.
func (e *estimate) content(v value) size {
	const scalarLength, perEntry = 32, 8
	if e.steps++; e.steps > maxSteps {
		return one
	}
	switch v.kind {
	case scalar:
		return constant(scalarLength)
	case part:
		return size{{1, dimensions{within(v.in, -1, e.limits.Text)}}}.plus(constant(perEntry))
	}
	sum := constant(perEntry)
	if v.entries == nil && v.kind == made {
		// A control character takes six characters in JSON.
		return sum.plus(v.size.times(6))
	}
	for _, field := range v.fields {
		sum = sum.plus(e.content(field).plus(constant(e.limits.Text / 1024)))
	}
	for _, alternative := range v.alternatives {
		sum = sum.plus(e.content(alternative))
	}
	if v.entries != nil {
		sum = sum.plus(v.size.product(e.content(*v.entries).plus(constant(perEntry))))
	}
	return sum
}
