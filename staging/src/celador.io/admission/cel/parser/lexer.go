// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	// end follows the last token.
	end kind = iota
	identifier
	integer
	text
	// symbol is an operator, a bracket or a keyword: true, false, null or in.
	symbol
)

// A token is a part of an expression between two offsets.
type token struct {
	kind        kind
	start, stop int32
}

// lex splits an expression into tokens, the last of which is end. It declines expressions that the
// package does not support.
func lex(source string) ([]token, bool) {
	tokens := make([]token, 0, len(source)/3+2)
	for at := 0; at < len(source); {
		start, kind := at, symbol
		switch c := source[at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			at++
			continue
		case strings.HasPrefix(source[at:], "//"):
			for at < len(source) && source[at] != '\n' {
				if source[at] >= utf8.RuneSelf {
					return nil, false
				}
				at++
			}
			continue
		case (c == 'r' || c == 'R') && at+1 < len(source) && isQuote(source[at+1]):
			kind, at = text, quoted(source, at+1, true)
		case isQuote(c):
			kind, at = text, quoted(source, at, false)
		case isLetter(c):
			for at < len(source) && (isLetter(source[at]) || isDigit(source[at])) {
				at++
			}
			switch source[start:at] {
			case "true", "false", "null", "in":
			default:
				kind = identifier
			}
			if at < len(source) && isQuote(source[at]) {
				return nil, false // a text with a prefix
			}
		case isDigit(c):
			for at < len(source) && isDigit(source[at]) {
				at++
			}
			if at < len(source) && (isLetter(source[at]) || source[at] == '.') {
				return nil, false
			}
			kind = integer
		default:
			at += symbolLength(source[at:])
		}
		if at <= start {
			return nil, false
		}
		tokens = append(tokens, token{kind, int32(start), int32(at)})
	}
	size := int32(len(source))
	return append(tokens, token{end, size, size}), true
}

// quoted returns the offset after the text literal that begins with a quote at an offset. It
// returns 0 if the package does not support the literal. A raw literal has no escapes.
func quoted(source string, at int, raw bool) int {
	quote := source[at]
	if strings.HasPrefix(source[at+1:], string([]byte{quote, quote})) {
		return 0
	}
	for at++; at < len(source); at++ {
		switch c := source[at]; {
		case c == quote:
			return at + 1
		case c == '\n' || c == '\r' || c >= utf8.RuneSelf:
			return 0
		case c == '\\' && !raw:
			if at++; at == len(source) || escaped(source[at]) == 0 {
				return 0
			}
		}
	}
	return 0
}

// escaped returns the character that an escape sequence of a backslash and c stands for, or 0 if it
// is not supported.
func escaped(c byte) byte {
	switch c {
	case '\\', '\'', '"':
		return c
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

// unquote returns the value of a text.
func unquote(literal string) string {
	if !isQuote(literal[0]) {
		return literal[2 : len(literal)-1]
	}
	literal = literal[1 : len(literal)-1]
	if strings.IndexByte(literal, '\\') < 0 {
		return literal
	}
	value := make([]byte, 0, len(literal))
	for i := 0; i < len(literal); i++ {
		c := literal[i]
		if c == '\\' {
			i++
			c = escaped(literal[i])
		}
		value = append(value, c)
	}
	return string(value)
}

// symbolLength returns the length of the symbol that a text starts with, or 0 if it starts with
// none.
func symbolLength(source string) int {
	if len(source) > 1 {
		switch source[:2] {
		case "==", "!=", "<=", ">=", "&&", "||":
			return 2
		}
	}
	if strings.IndexByte("<>[]{}().,-!?:+*/%", source[0]) >= 0 {
		return 1
	}
	return 0
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
