// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// jsonEscape matches an escape sequence of JSON. It matches the two sequences of a surrogate pair
// together, and that of a lone half of a pair. Of any other sequence, it matches only the backslash
// and the next character, which is enough, because withoutJSONEscapes replaces only an escaped
// slash among them.
var jsonEscape = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|.)`)

// withoutJSONEscapes replaces the escape sequences of a JSON text that YAML does not have, so that
// a parser of YAML can read it: an escaped slash, and the halves of a surrogate pair. What follows
// on the same line is then in another column, but lines stay as they are. A text that is not JSON
// is returned as it is.
func withoutJSONEscapes(text []byte) []byte {
	if !bytes.ContainsRune(text, '\\') || !json.Valid(text) {
		return text
	}
	return jsonEscape.ReplaceAllFunc(text, func(sequence []byte) []byte {
		if len(sequence) == 2 && sequence[1] != '/' {
			return sequence
		}
		var character string
		if json.Unmarshal([]byte(`"`+string(sequence)+`"`), &character) != nil {
			return sequence // cannot happen in valid JSON
		}
		return []byte(character)
	})
}
