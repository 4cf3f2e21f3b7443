// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"

	nodes "go.yaml.in/yaml/v3"
)

// A Position is a place in a file. Lines and columns count from 1. A Position without a line is the
// whole file.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String returns file:line.
func (p Position) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// An Error is a problem of a field.
type Error struct {
	Position Position
	Field    string // the path of the field in its document, empty for the document
	Problem  string
}

// Error returns file:line: field: problem.
func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s: %s", e.Position, e.Problem)
	}
	return fmt.Sprintf("%s: %s: %s", e.Position, e.Field, e.Problem)
}

// Errors returns the errors that err joins, and those that they join in turn. It returns nil if err
// is nil.
func Errors(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var all []error
	for _, err := range joined.Unwrap() {
		all = append(all, Errors(err)...)
	}
	return all
}

// Errorf returns an error with the position of the field at a path, such as
// spec.validations[0].expression or metadata.labels[app]. If there is no such field, the position
// is the one of the nearest parent that exists.
func (d *Document) Errorf(path, format string, args ...any) *Error {
	return &Error{Position: d.Position(path), Field: d.fieldAt(path), Problem: fmt.Sprintf(format, args...)}
}

// fieldAt returns the path of the field at a path below the value, from the root of the document in
// the file. For a value that was not read from a file, it is the path in the document that it
// derives from.
func (d *Document) fieldAt(path string) string {
	if d.places != nil {
		_, key, rest := find(d.node, path)
		if place := d.places[key]; place.same {
			return below(place.field, rest)
		}
		return d.places[key].field
	}
	return below(d.field, path)
}

// below returns the path of the value at a path below the value of field.
func below(field, path string) string {
	path = strings.TrimPrefix(path, ".")
	if path == "" || strings.HasPrefix(path, "[") {
		return field + path
	}
	return Member(field, path)
}

// Position returns the position of the field at a path, or of the nearest parent that exists. An
// empty path is the document.
func (d *Document) Position(path string) Position {
	if path == "" {
		return d.at(d.place)
	}
	_, place, _ := find(d.node, path)
	return d.at(place)
}

func (d *Document) at(node *nodes.Node) Position {
	if place, found := d.places[node]; found {
		return place.position
	}
	return Position{File: d.file, Line: node.Line + d.lines, Column: node.Column}
}

// find returns the node at a path. If there is none, it returns the nearest parent, and the rest of
// the path below it. place is the node whose position errors report: the key of a field, or an item
// of a list. A path is written as in the API's errors: spec.items[0], labels[key]. Keys may have
// dots.
func find(node *nodes.Node, path string) (value, place *nodes.Node, rest string) {
	place = node
	for {
		node = resolved(node)
		key, child, rest := step(node, path)
		if child == nil {
			return node, place, path
		}
		node, place, path = child, key, rest
	}
}

// resolved returns the value that an alias stands for. It returns other nodes as they are.
func resolved(node *nodes.Node) *nodes.Node {
	for node != nil && node.Kind == nodes.AliasNode {
		node = node.Alias
	}
	return node
}

// step follows the first step of a path. It returns the child of node to which the step leads, the
// node whose position errors report (the key of a field, or the list item itself), and the rest of
// the path. child is nil if there is none.
func step(node *nodes.Node, path string) (key, child *nodes.Node, rest string) {
	switch node.Kind {
	case nodes.MappingNode:
		path = strings.TrimPrefix(path, ".")
		for i := 0; i+1 < len(node.Content); i += 2 {
			if rest, found := cutKey(path, node.Content[i].Value); found {
				return node.Content[i], node.Content[i+1], rest
			}
		}
	case nodes.SequenceNode:
		for i, child := range node.Content {
			if rest, found := strings.CutPrefix(path, item("", i)); found {
				return child, child, rest
			}
		}
	}
	return nil, nil, ""
}

// cutKey returns the part of path after key. It reports whether path begins with the key.
func cutKey(path, key string) (rest string, found bool) {
	if rest, found = strings.CutPrefix(path, "["+key+"]"); found {
		return rest, true
	}
	rest, found = strings.CutPrefix(path, key)
	return rest, found && key != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// check returns an error for the first value or key that JSON does not have, such as .nan or a list
// as a key, and for the first key that a mapping has twice.
func (d *Document) check(node *nodes.Node, path string) error {
	switch node.Kind {
	case nodes.MappingNode:
		lines := map[string]int{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind == nodes.MappingNode || key.Kind == nodes.SequenceNode || key.ShortTag() == "!!null" {
				return &Error{Position: d.at(key), Field: path, Problem: "a key must be a string"}
			}
			if first, found := lines[key.Value]; found && key.Kind == nodes.ScalarNode && key.Tag != "!!merge" {
				return &Error{Position: d.at(key), Field: Member(path, key.Value), Problem: fmt.Sprintf("duplicate key, first in line %d", first)}
			}
			lines[key.Value] = key.Line + d.lines
			if err := d.check(node.Content[i+1], Member(path, key.Value)); err != nil {
				return err
			}
		}
	case nodes.SequenceNode:
		for i, child := range node.Content {
			if err := d.check(child, item(path, i)); err != nil {
				return err
			}
		}
	case nodes.ScalarNode:
		if text := strings.ToLower(node.Value); node.ShortTag() == "!!float" && (strings.HasSuffix(text, ".nan") || strings.HasSuffix(text, ".inf")) {
			return &Error{Position: d.at(node), Field: path, Problem: node.Value + " is not a number of JSON"}
		}
	}
	return nil
}
