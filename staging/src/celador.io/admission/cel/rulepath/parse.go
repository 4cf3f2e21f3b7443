// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulepath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseField parses the field of a rule. Names are separated by dots; names with other characters
// than letters, digits, '_', '-' and '$' are written in brackets and quotes. It returns an error,
// which says where and what to write instead, if the text is not a path, contains [*] or indexes a
// list. The positions in errors count characters from 1.
func ParseField(text string) (Path, error) { return parse(text, false) }

// ParseScope parses the scope of a rule, which may contain [*]. It returns the errors of
// ParseField.
func ParseScope(text string) (Path, error) { return parse(text, true) }

func parse(text string, patterns bool) (Path, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("is not valid UTF-8")
	}
	p := parser{text: text, rest: text, patterns: patterns}
	return p.path()
}

// A parser reads a path from left to right. rest is what it has not read.
type parser struct {
	text, rest string
	patterns   bool
}

func (p *parser) path() (Path, error) {
	if strings.HasPrefix(p.text, "/") {
		return nil, p.errorf("paths are written with dots, such as spec.replicas")
	}
	var path Path
	for p.rest != "" {
		var segment Segment
		var err error
		switch {
		case p.skip("."):
			if strings.HasPrefix(p.rest, "*") {
				return nil, p.errorf("write [*] for every entry of a list or map")
			}
			// As in jq, a dot may stand before the first brackets.
			if len(path) == 0 && strings.HasPrefix(p.rest, "[") {
				continue
			}
			segment.Name, err = p.name("after the dot")
		case p.skip("["):
			segment, err = p.brackets(path)
		case len(path) == 0:
			segment.Name, err = p.name("at the start of the path")
		default:
			err = p.unexpected("expected '.' or '['")
		}
		if err != nil {
			return nil, err
		}
		path = append(path, segment)
	}
	return path, nil
}

func (p *parser) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// name reads a name without quotes.
func (p *parser) name(where string) (string, error) {
	end := strings.IndexFunc(p.rest, func(r rune) bool { return !isPlainRune(r) })
	if end < 0 {
		end = len(p.rest)
	}
	if end == 0 {
		return "", p.unexpected("expected a name " + where)
	}
	name := p.rest[:end]
	p.rest = p.rest[end:]
	return name, nil
}

// brackets reads the rest of a segment in brackets, after the opening bracket. before is the path
// before the segment: errors suggest paths that begin with it.
func (p *parser) brackets(before Path) (Segment, error) {
	if p.rest == "" {
		return Segment{}, p.errorf("'[' is not closed")
	}
	switch c := p.rest[0]; {
	case c == '*':
		if !p.patterns {
			return Segment{}, p.errorf("[*] is allowed in scope only: write scope %q, and the path in the entry as field",
				before.Join(Path{{Each: true}}))
		}
		p.skip("*")
		return Segment{Each: true}, p.close()
	case c == '\'' || c == '"':
		p.rest = p.rest[1:]
		name, err := p.quoted(c)
		if err != nil {
			return Segment{}, err
		}
		return Segment{Name: name}, p.close()
	case c == '-' || '0' <= c && c <= '9':
		if p.patterns {
			return Segment{}, p.errorf("a list item cannot be selected by its index: write [*] for every item")
		}
		return Segment{}, p.errorf("a list item cannot be set by its index: set the whole list with the field %q, or every item with the scope %q",
			before, before.Join(Path{{Each: true}}))
	default:
		return Segment{}, p.unexpected("expected a name in quotes, such as ['example.com/zone'], after '['")
	}
}

func (p *parser) close() error {
	if !p.skip("]") {
		return p.unexpected("expected ']'")
	}
	return nil
}

// quoted reads a name up to the closing quote.
func (p *parser) quoted(quote byte) (string, error) {
	var name strings.Builder
	for {
		next := strings.IndexAny(p.rest, string([]byte{quote, '\\'}))
		if next < 0 {
			p.rest = ""
			return "", p.errorf("expected a closing %c", quote)
		}
		name.WriteString(p.rest[:next])
		found := p.rest[next]
		p.rest = p.rest[next:]
		if found == quote {
			p.rest = p.rest[1:]
			return name.String(), nil
		}
		r, err := p.escape()
		if err != nil {
			return "", err
		}
		name.WriteRune(r)
	}
}

// escape reads an escape sequence.
func (p *parser) escape() (rune, error) {
	if len(p.rest) > 1 {
		switch c := p.rest[1]; c {
		case '\\', '\'', '"', '/':
			p.rest = p.rest[2:]
			return rune(c), nil
		case 'n', 'r', 't':
			p.rest = p.rest[2:]
			return map[byte]rune{'n': '\n', 'r': '\r', 't': '\t'}[c], nil
		case 'u':
			const length = len(`\u0000`)
			if len(p.rest) < length {
				break
			}
			code, err := strconv.ParseUint(p.rest[2:length], 16, 16)
			if err != nil || !utf8.ValidRune(rune(code)) {
				break
			}
			p.rest = p.rest[length:]
			return rune(code), nil
		}
	}
	return 0, p.errorf(`'\' starts an unknown escape sequence: write \\ for a backslash`)
}

// unexpected returns an error that says what was expected instead of the next character.
func (p *parser) unexpected(expected string) error {
	r, _ := utf8.DecodeRuneInString(p.rest)
	switch {
	case p.rest == "":
		return p.errorf("%s, found the end of the path", expected)
	case r == '.' || r == '[' || r == ']' || r == '\'' || r == '"':
		return p.errorf("%s, found %q", expected, r)
	default:
		return p.errorf("%s, found %q; write names that contain other characters than letters, digits, '_', '-' and '$' in brackets and quotes, such as metadata.annotations['example.com/zone']",
			expected, r)
	}
}

func (p *parser) errorf(format string, args ...any) error {
	position := utf8.RuneCountInString(p.text[:len(p.text)-len(p.rest)]) + 1
	return fmt.Errorf("character %d: %s", position, fmt.Sprintf(format, args...))
}
