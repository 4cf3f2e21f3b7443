// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A tree is a JSON value with the order of its keys and the spelling of its scalars.
type tree struct {
	kind    rune // '{', '[' or 's' for a scalar
	keys    []string
	values  []*tree
	literal string
}

// parseTree returns the tree of a JSON text.
func parseTree(text []byte) (*tree, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return buildTree(raw)
}

func buildTree(raw json.RawMessage) (*tree, error) {
	if raw[0] != '{' && raw[0] != '[' {
		return &tree{kind: 's', literal: string(raw)}, nil
	}
	t := &tree{kind: rune(raw[0])}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	for decoder.More() {
		if t.kind == '{' {
			key, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			t.keys = append(t.keys, key.(string))
		}
		var element json.RawMessage
		if err := decoder.Decode(&element); err != nil {
			return nil, err
		}
		value, err := buildTree(element)
		if err != nil {
			return nil, err
		}
		t.values = append(t.values, value)
	}
	return t, nil
}

// get returns the value at a path of keys, or nil.
func (t *tree) get(path ...string) *tree {
	for _, key := range path {
		if t == nil || t.kind != '{' {
			return nil
		}
		var next *tree
		for i, k := range t.keys {
			if k == key {
				next = t.values[i]
			}
		}
		t = next
	}
	return t
}

// drop removes a key of an object.
func (t *tree) drop(key string) {
	if i := slices.Index(t.keys, key); i >= 0 {
		t.keys, t.values = slices.Delete(t.keys, i, i+1), slices.Delete(t.values, i, i+1)
	}
}

// text returns the value of a string, or an empty string for any other value.
func (t *tree) text() string {
	if t == nil || t.kind != 's' {
		return ""
	}
	var value string
	if json.Unmarshal([]byte(t.literal), &value) != nil {
		return ""
	}
	return value
}

func (t *tree) setText(value string) {
	t.literal = strconv.Quote(value)
}

// String returns indented JSON, in which keys keep their order.
func (t *tree) String() string {
	var b strings.Builder
	t.print(&b, "\n")
	return b.String()
}

func (t *tree) print(b *strings.Builder, newline string) {
	if t.kind == 's' {
		b.WriteString(t.literal)
		return
	}
	b.WriteRune(t.kind)
	for i, value := range t.values {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(newline + "  ")
		if t.kind == '{' {
			b.WriteString(strconv.Quote(t.keys[i]) + ": ")
		}
		value.print(b, newline+"  ")
	}
	if t.values != nil {
		b.WriteString(newline)
	}
	b.WriteRune(t.kind + 2) // the closing bracket
}

// walk calls visit for the tree and all values in it, each with the keys that lead to it.
// Elements of lists have the key "[]".
func (t *tree) walk(path []string, visit func(path []string, value *tree)) {
	visit(path, t)
	for i, value := range t.values {
		key := "[]"
		if t.kind == '{' {
			key = t.keys[i]
		}
		value.walk(append(path[:len(path):len(path)], key), visit)
	}
}
