// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramparts

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// maxEncoding is the maximum size in bytes of encoded parts. Comparing larger parts would take
// long, and memory for each param.
const maxEncoding = 1024

// An encoding is a text for JSON values that is equal if and only if CEL reads the same values.
type encoding struct {
	bytes []byte
	// failed is set if the text is too long, or if a value has a type that JSON values do not have.
	failed bool
}

// Tags of the types of values. Numbers of different types differ in CEL.
const (
	null    = 'n'
	no      = 'f'
	yes     = 't'
	integer = 'i'
	double  = 'd'
	text    = 's'
	list    = 'l'
	mapping = 'm'
)

// part appends a part of an object. If it is absent, the error of an expression that reads it
// depends on the value that lacks it: a map is the same as any other, whatever else it contains.
func (e *encoding) part(object map[string]any, p *part) {
	value, depth := find(object, p.path)
	e.number(uint64(depth))
	absent := depth < len(p.path)
	switch v := value.(type) {
	case map[string]any:
		switch {
		case absent:
			e.tag(mapping)
		case p.extent:
			e.size(mapping, len(v))
		default:
			e.value(v)
		}
	case []any:
		if p.extent && !absent {
			e.size(list, len(v))
		} else {
			e.value(v)
		}
	default:
		e.value(v)
	}
}

func (e *encoding) value(v any) {
	switch v := v.(type) {
	case nil:
		e.tag(null)
	case bool:
		if v {
			e.tag(yes)
		} else {
			e.tag(no)
		}
	case int64:
		e.tag(integer)
		e.number(uint64(v))
	case float64:
		e.tag(double)
		e.number(math.Float64bits(v))
	case string:
		if e.size(text, len(v)); e.fits(len(v)) {
			e.bytes = append(e.bytes, v...)
		}
	case []any:
		if e.size(list, len(v)); e.fits(len(v)) {
			for _, element := range v {
				e.value(element)
			}
		}
	case map[string]any:
		if e.size(mapping, len(v)); e.fits(len(v)) {
			for _, key := range slices.Sorted(maps.Keys(v)) {
				e.value(key)
				e.value(v[key])
			}
		}
	default:
		e.failed = true
	}
}

// fits reports whether at least n further bytes fit into the text. If they do not, the encoding has
// failed.
func (e *encoding) fits(n int) bool {
	e.failed = e.failed || len(e.bytes)+n > maxEncoding
	return !e.failed
}

func (e *encoding) tag(tag byte) { e.bytes = append(e.bytes, tag) }

func (e *encoding) size(tag byte, n int) {
	e.tag(tag)
	e.number(uint64(n))
}

func (e *encoding) number(n uint64) { e.bytes = binary.AppendUvarint(e.bytes, n) }
