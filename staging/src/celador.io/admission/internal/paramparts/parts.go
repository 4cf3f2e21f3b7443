// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramparts

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/admission/cel/reads"
)

// Parts is a set of parts of param objects. The zero value is the empty set. Immutable.
type Parts struct {
	// whole is set if the set contains the object itself.
	whole bool
	parts []part
}

// A part is a value in a param object.
type part struct {
	path []string
	// extent is set if only the size of the value counts, if it is a list or a map.
	extent bool
}

// New returns the set of parts that expressions read. Paths begin at the param.
func New(all []reads.Read) Parts {
	var p Parts
	for _, read := range all {
		path := read.Path
		entry := slices.Index(path, reads.Entry)
		if entry >= 0 {
			path = path[:entry]
		}
		added := part{path: path, extent: !read.Whole && entry < 0}
		p.whole = p.whole || len(path) == 0 && !added.extent
		if !slices.ContainsFunc(p.parts, func(other part) bool { return other.includes(added) }) {
			p.parts = append(slices.DeleteFunc(p.parts, added.includes), added)
		}
	}
	if p.whole {
		p.parts = nil
	}
	return p
}

// includes reports whether objects with an equal part p have an equal part other.
func (p part) includes(other part) bool {
	if p.extent {
		return other.extent && slices.Equal(p.path, other.path)
	}
	return len(p.path) <= len(other.path) && slices.Equal(p.path, other.path[:len(p.path)])
}

// Empty reports whether the set has no parts.
func (p *Parts) Empty() bool { return !p.whole && len(p.parts) == 0 }

// String returns the paths of the parts. A question mark follows those of which only the size
// counts.
func (p *Parts) String() string {
	if p.whole {
		return "."
	}
	var all []string
	for _, part := range p.parts {
		text := "." + strings.Join(part.path, ".")
		if part.extent {
			text += "?"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// Of returns the parts of a param in a form that can be compared: expressions that read no other
// parts have equal results for params with equal values of both scalar and text. buffer is the
// storage of text. A scalar is a string, a boolean, an integer or, if the param is only equal to
// itself, its pointer.
func (p *Parts) Of(param *unstructured.Unstructured, buffer []byte) (scalar any, text []byte) {
	if p.whole {
		return param, nil
	}
	if len(p.parts) == 1 && !p.parts[0].extent {
		value, depth := find(param.Object, p.parts[0].path)
		if depth == len(p.parts[0].path) && isScalar(value) {
			return value, nil
		}
	}
	e := encoding{bytes: buffer[:0]}
	for i := range p.parts {
		e.part(param.Object, &p.parts[i])
	}
	if e.failed {
		return param, nil
	}
	return nil, e.bytes
}

func isScalar(value any) bool {
	switch v := value.(type) {
	case bool, int64:
		return true
	case string:
		return len(v) <= maxEncoding
	default:
		return false
	}
}

// find returns the value at a path, and the number of steps to it. It returns the value at the
// longest prefix of the path if there is no value.
func find(object map[string]any, path []string) (value any, depth int) {
	value = object
	for _, step := range path {
		fields, ok := value.(map[string]any)
		if !ok {
			break
		}
		next, ok := fields[step]
		if !ok {
			break
		}
		value, depth = next, depth+1
	}
	return value, depth
}
