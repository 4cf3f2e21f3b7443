// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"

	nodes "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// An Origin is the value of a document that a value of a new document derives from.
type Origin struct {
	Document *Document
	// Path is the path of the value in Document. It is empty for the whole document.
	Path string
}

// A place is the position and the path of a value in the document that it derives from.
type place struct {
	position Position
	field    string
}

// New returns a document with the JSON form of value. The positions and paths in its errors are those of the origins,
// which are by path in the new document. Values without an origin have the one of the nearest parent; origins has an entry for the empty path.
func New(value any, origins map[string]Origin) (*Document, error) {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	var root nodes.Node
	// JSON is YAML, and this decoder keeps the order of fields.
	if err := nodes.Unmarshal(raw.Bytes(), &root); err != nil {
		return nil, err
	}
	node := root.Content[0]
	d := &Document{file: origins[""].Document.file, node: node, place: node, raw: raw.Bytes(), places: map[*nodes.Node]place{}}
	d.adopt(node, node, "", origins[""], origins)
	return d, nil
}

// adopt records the places of node and of the values in it, and writes them in block style. key has the position of node.
func (d *Document) adopt(key, node *nodes.Node, path string, origin Origin, origins map[string]Origin) {
	if own, found := origins[path]; found {
		origin = own
	}
	at := place{origin.Document.Position(origin.Path), origin.Document.fieldAt(origin.Path)}
	d.places[key], d.places[node] = at, at
	if node.Kind != nodes.ScalarNode {
		node.Style = 0
	} else if node.Tag == "!!str" {
		node.Style = scalarStyle(node.Value)
	}
	// A field that the origin does not have has the place of its parent.
	below := func(step func(string) string) Origin {
		if _, _, rest := walk(origin.Document.node, step(origin.Path)); rest != "" {
			return origin
		}
		return Origin{origin.Document, step(origin.Path)}
	}
	switch node.Kind {
	case nodes.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			name := node.Content[i].Value
			node.Content[i].Style = scalarStyle(name)
			step := func(path string) string { return member(path, name) }
			d.adopt(node.Content[i], node.Content[i+1], step(path), below(step), origins)
		}
	case nodes.SequenceNode:
		for i, child := range node.Content {
			step := func(path string) string { return item(path, i) }
			d.adopt(child, child, step(path), below(step), origins)
		}
	}
}

// scalarStyle returns the style of a string that reads as the same string in YAML 1.1, which has more booleans and
// numbers than the version of the encoder.
func scalarStyle(value string) nodes.Style {
	var plain any
	if err := yaml.Unmarshal([]byte(value), &plain); err == nil && plain == value {
		return 0
	}
	if bytes.ContainsRune([]byte(value), '\n') {
		return nodes.LiteralStyle
	}
	return nodes.DoubleQuotedStyle
}

// YAML returns the value as a YAML document in block style. It is meant for documents of New; others keep the style of their file.
func (d *Document) YAML() ([]byte, error) {
	var out bytes.Buffer
	encoder := nodes.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(d.node); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}
