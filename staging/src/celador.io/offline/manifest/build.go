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
	// same is set if the value and the value that it derives from are both objects or both lists.
	// An error about a field that the value lacks then has the path of this field in the other
	// document, below field. Otherwise it has the path field itself.
	same bool
}

// New returns a document with the JSON form of value. origins says, by the path of a value in the
// new document, from which value of another document it derives; errors about it have the position
// and the path there. A value that is not in origins derives from the origin of its nearest parent.
// The empty path must have an origin.
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
	d.adopt(node, node, "", newSource(origins[""]), origins)
	return d, nil
}

// A source is a value from which a value of the new document derives, with its document and place.
// node is nil if the document lacks the value; the place is then that of the nearest parent.
type source struct {
	document *Document
	node     *nodes.Node
	place    place
}

func newSource(o Origin) source {
	node, _, rest := find(o.Document.node, o.Path)
	if rest != "" {
		node = nil
	}
	return source{o.Document, node, place{position: o.Document.Position(o.Path), field: o.Document.fieldAt(o.Path)}}
}

// members returns the values of an object by their keys. It is empty for other values.
func (s source) members() map[string]source {
	found := map[string]source{}
	if node := resolved(s.node); node != nil && node.Kind == nodes.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			name := node.Content[i].Value
			found[name] = s.below(node.Content[i], node.Content[i+1], Member(s.place.field, name))
		}
	}
	return found
}

// items returns the items of a list. It is empty for other values.
func (s source) items() []source {
	var found []source
	if node := resolved(s.node); node != nil && node.Kind == nodes.SequenceNode {
		for i, child := range node.Content {
			found = append(found, s.below(child, child, item(s.place.field, i)))
		}
	}
	return found
}

// below returns the source for node, which is a value inside the value of s. key is the node whose
// position errors about node have: the key of a field, or the list item itself. field is the path
// of node.
func (s source) below(key, node *nodes.Node, field string) source {
	at, found := s.document.places[key]
	if !found {
		at = place{position: s.document.at(key), field: field}
	}
	return source{s.document, node, at}
}

// adopt records the places to which errors about node, a part of a new document, point: the place
// of from, which node was made of. Values inside node get the places of the values at the same
// paths in from. A value whose path origins has, and the values in it, get places of that origin
// instead. path is the path of node in the new document. key is the node of its key, or node itself
// if it has none.
func (d *Document) adopt(key, node *nodes.Node, path string, from source, origins map[string]Origin) {
	if own, found := origins[path]; found {
		from = newSource(own)
	}
	at := from.place
	origin := resolved(from.node)
	at.same = origin != nil && origin.Kind == node.Kind && node.Kind != nodes.ScalarNode
	d.places[key], d.places[node] = at, at
	// A value that the origin does not have has the place of its parent.
	missing := source{document: from.document, place: from.place}
	switch node.Kind {
	case nodes.MappingNode:
		members := from.members()
		for i := 0; i+1 < len(node.Content); i += 2 {
			name := node.Content[i].Value
			child, found := members[name]
			if !found {
				child = missing
			}
			d.adopt(node.Content[i], node.Content[i+1], Member(path, name), child, origins)
		}
	case nodes.SequenceNode:
		items := from.items()
		for i, value := range node.Content {
			child := missing
			if i < len(items) {
				child = items[i]
			}
			d.adopt(value, value, item(path, i), child, origins)
		}
	}
}

// inBlockStyle returns a copy of node in block style.
func inBlockStyle(node *nodes.Node) *nodes.Node {
	styled := *node
	styled.Content = nil
	for _, child := range node.Content {
		styled.Content = append(styled.Content, inBlockStyle(child))
	}
	if node.Kind != nodes.ScalarNode {
		styled.Style = 0
	} else if node.Tag == "!!str" {
		styled.Style = scalarStyle(node.Value)
	}
	return &styled
}

// scalarStyle returns the YAML style in which to write a string so that YAML 1.1, too, reads it as
// the same string. YAML 1.1 has more booleans and numbers than the version of the encoder, such as
// yes.
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

// YAML returns the value as a YAML document in block style.
func (d *Document) YAML() ([]byte, error) {
	var out bytes.Buffer
	encoder := nodes.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(inBlockStyle(d.node)); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}
