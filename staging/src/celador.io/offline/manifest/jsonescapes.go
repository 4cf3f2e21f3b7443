// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// withoutJSONEscapes replaces the escape sequences of a JSON text that YAML does not have: an
// escaped slash, and the halves of a surrogate pair. Columns behind them change, lines do not. A
// text that is not JSON is returned as it is.
func withoutJSONEscapes(text []byte) []byte {
	if !bytes.ContainsRune(text, '\\') || !json.Valid(text) {
		return text
	}
	replaced := make([]byte, 0, len(text))
	for len(text) > 0 {
		before, rest, found := bytes.Cut(text, []byte{'\\'})
		replaced = append(replaced, before...)
		if !found {
			break
		}
		switch first := escaped(rest); {
		case rest[0] == '/':
			replaced, text = append(replaced, '/'), rest[1:]
		case !utf16.IsSurrogate(first):
			replaced, text = append(replaced, '\\', rest[0]), rest[1:]
		default:
			text = rest[len("uD800"):]
			var second rune
			if low, found := bytes.CutPrefix(text, []byte{'\\'}); found {
				second = escaped(low)
			}
			pair := utf16.DecodeRune(first, second)
			if pair != utf8.RuneError {
				text = text[len(`\uDC00`):]
			}
			replaced = utf8.AppendRune(replaced, pair)
		}
	}
	return replaced
}

// escaped returns the UTF-16 code unit of an escape sequence without its backslash, or 0 for other
// sequences.
func escaped(sequence []byte) rune {
	if sequence[0] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(sequence[1:5]), 16, 16)
	if err != nil {
		return 0 // cannot happen in valid JSON
	}
	return rune(unit)
}
