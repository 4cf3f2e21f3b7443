// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// maxValueBytes is the length at which FormatValue shortens values.
const maxValueBytes = 120

// FormatValue returns a value as a CEL literal, if there is one. Large values are shortened.
func FormatValue(value ref.Val) string {
	f := formatter{}
	f.write(value)
	text := f.text.String()
	if len(text) <= maxValueBytes {
		return text
	}
	text = text[:maxValueBytes]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "…"
}

// A formatter writes a value until the text is too long.
type formatter struct{ text strings.Builder }

func (f *formatter) full() bool { return f.text.Len() > maxValueBytes }

func (f *formatter) write(value ref.Val) {
	if f.full() {
		return
	}
	switch v := value.(type) {
	case nil, types.Null:
		f.text.WriteString("null")
	case types.String:
		text := string(v)
		if len(text) > 2*maxValueBytes {
			text = text[:2*maxValueBytes] // cut again by Format
		}
		f.text.WriteString(strconv.Quote(text))
	case types.Bytes:
		fmt.Fprintf(&f.text, "%d bytes", len(v))
	case *types.Err:
		f.text.WriteString("an error: " + v.String())
	case *types.Optional:
		if !v.HasValue() {
			f.text.WriteString("optional.none()")
			return
		}
		f.text.WriteString("optional.of(")
		f.write(v.GetValue())
		f.text.WriteString(")")
	case traits.Mapper:
		f.writeMap(v)
	case traits.Lister:
		f.writeList(v)
	case types.Bool, types.Int, types.Uint, types.Double:
		fmt.Fprint(&f.text, v.Value())
	default:
		if text, ok := v.Value().(fmt.Stringer); ok {
			f.text.WriteString(text.String())
			return
		}
		f.text.WriteString(v.Type().TypeName())
	}
}

func (f *formatter) writeList(list traits.Lister) {
	f.text.WriteString("[")
	for it, first := list.Iterator(), true; it.HasNext() == types.True && !f.full(); first = false {
		if !first {
			f.text.WriteString(", ")
		}
		f.write(it.Next())
	}
	f.text.WriteString("]")
}

func (f *formatter) writeMap(entries traits.Mapper) {
	var keys []ref.Val
	for it := entries.Iterator(); it.HasNext() == types.True; {
		// Iterators return nil for an unknown field of a custom resource.
		if key := it.Next(); key != nil {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b ref.Val) int { return cmp.Compare(fmt.Sprint(a.Value()), fmt.Sprint(b.Value())) })
	f.text.WriteString("{")
	for i, key := range keys {
		if f.full() {
			break
		}
		if i > 0 {
			f.text.WriteString(", ")
		}
		fmt.Fprint(&f.text, key.Value())
		f.text.WriteString(": ")
		f.write(entries.Get(key))
	}
	f.text.WriteString("}")
}
