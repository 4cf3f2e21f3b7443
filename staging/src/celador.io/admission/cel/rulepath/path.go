// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rulepath parses the paths of conversion rules, of default rules and of the scopes of
// policies, such as spec.endpoints[*] and metadata.annotations['example.com/zone'], and reads and
// writes unstructured objects at them.
package rulepath

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Path leads from an object to a field in it. The empty path is the object itself. A Path is
// immutable and safe for concurrent use.
type Path []Segment

// A Segment is one element of a path: the name of a property, the key of a map entry, [*] for every
// entry of a list or map, or a list item.
type Segment struct {
	// Name is the name of the property or the key of the map entry.
	Name string
	// Each is set for [*]: every item of a list and every value of a map. Name is empty then.
	Each bool
	// Item is set for a list item, such as one in the path of a Location, where the scope has [*].
	// Parsed paths have no such segments, because rules cannot set single items. Name is empty
	// then.
	Item bool
	// Index is the index of the list item, if Item is set.
	Index int
}

// Join returns the path that continues p with rest. It shares nothing with p.
func (p Path) Join(rest Path) Path {
	joined := make(Path, 0, len(p)+len(rest))
	return append(append(joined, p...), rest...)
}

// HasEach reports whether the path contains [*].
func (p Path) HasEach() bool {
	return slices.ContainsFunc(p, func(s Segment) bool { return s.Each })
}

// String returns the canonical text of the path. Parsing it returns an equal path, unless p is the
// path of a Location. The text of the empty path is empty.
func (p Path) String() string {
	var b strings.Builder
	for i, segment := range p {
		switch {
		case segment.Each:
			b.WriteString("[*]")
		case segment.Item:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(segment.Index))
			b.WriteByte(']')
		case isPlain(segment.Name):
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(segment.Name)
		default:
			b.WriteString("['")
			writeQuoted(&b, segment.Name)
			b.WriteString("']")
		}
	}
	return b.String()
}

// isPlain reports whether a path can have the name without quotes.
func isPlain(name string) bool {
	for _, r := range name {
		if !isPlainRune(r) {
			return false
		}
	}
	return name != ""
}

func isPlainRune(r rune) bool {
	switch r {
	case '_', '-', '$':
		return true
	case unicode.ReplacementChar:
		return false
	default:
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	}
}

// writeQuoted writes a name with the escapes that it needs between single quotes.
func writeQuoted(b *strings.Builder, name string) {
	for _, r := range name {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
}

// Describe names the value at the path in an error.
func (p Path) Describe() string {
	if len(p) == 0 {
		return "the object"
	}
	return Abbreviate(p.String())
}

// MaxFieldPath is the length in bytes above which paths of fields are invalid, or are cut off.
const MaxFieldPath = 1024

// longName is the length in bytes above which Abbreviate cuts off a text.
const longName = 128

// AbbreviateTo cuts off a text after limit bytes.
func AbbreviateTo(limit int, text string) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "..."
}

// Abbreviate cuts off a long text for an error.
func Abbreviate(text string) string {
	return AbbreviateTo(longName, text)
}
