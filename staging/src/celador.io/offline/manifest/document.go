// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	nodes "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// A Document is a document of a file, or a value inside one. It is immutable and safe for concurrent use.
type Document struct {
	file  string
	field string // the path of the value in its document, empty for the document
	lines int    // the number of lines before the document in the file
	node  *nodes.Node
	place *nodes.Node // has the position of the value: its key, or the value itself
	raw   []byte
}

// Raw returns the value as JSON. Callers must not change it.
func (d *Document) Raw() []byte { return d.raw }

// GroupVersionKind returns the type that apiVersion and kind name. It is empty if the value has none.
func (d *Document) GroupVersionKind() schema.GroupVersionKind {
	var meta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if kjson.UnmarshalCaseSensitivePreserveInts(d.raw, &meta) != nil {
		return schema.GroupVersionKind{}
	}
	return schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind)
}

// Decode decodes the value into a pointer to a Go type with JSON tags. Unknown fields and values of other types are
// errors, each with its position.
func (d *Document) Decode(into any) error {
	strict, err := kjson.UnmarshalStrict(d.raw, into)
	if err != nil {
		return d.decodingError(err)
	}
	var errs []error
	for _, err := range strict {
		var unknown kjson.FieldError
		if errors.As(err, &unknown) {
			errs = append(errs, d.Errorf(unknown.FieldPath(), "unknown field"))
		} else {
			errs = append(errs, d.Errorf("", "%v", err))
		}
	}
	return errors.Join(errs...)
}

func (d *Document) decodingError(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return d.Errorf("", "%v", err)
	}
	return d.Errorf(pathAt(d.raw, mismatch.Offset), "a value of type %s is not allowed here, want %s", mismatch.Value, typeName(mismatch.Type.Kind().String()))
}

// typeName returns the name that JSON has for a kind of Go.
func typeName(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "integer"
	case kind == "struct", kind == "map":
		return "object"
	case kind == "slice":
		return "array"
	case kind == "bool":
		return "boolean"
	}
	return kind
}

// pathAt returns the path of the value that the first offset bytes of raw end in.
func pathAt(raw []byte, offset int64) string {
	type level struct {
		array bool
		index int
		key   string
		isKey bool // the next string is a key
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	var levels []level
	for decoder.InputOffset() < offset {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		if len(levels) > 0 && token != json.Delim('}') && token != json.Delim(']') {
			top := &levels[len(levels)-1]
			switch key, _ := token.(string); {
			case top.array:
				top.index++
			case top.isKey:
				top.key, top.isKey = key, false
				continue
			default:
				top.isKey = true
			}
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{isKey: true})
		case json.Delim('['):
			levels = append(levels, level{array: true, index: -1})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
		}
	}
	path := ""
	for _, l := range levels {
		if l.array && l.index >= 0 {
			path = item(path, l.index)
		} else if l.key != "" {
			path = member(path, l.key)
		}
	}
	return path
}

func member(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func item(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// Object returns the value as an object. It is an error if apiVersion, kind or a name (metadata.name or
// metadata.generateName) is missing. The caller owns the object.
func (d *Document) Object() (*unstructured.Unstructured, error) {
	content := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.raw, &content); err != nil {
		return nil, d.decodingError(err)
	}
	object := &unstructured.Unstructured{Object: content}
	for _, field := range []string{"apiVersion", "kind"} {
		if value, ok := content[field].(string); !ok || value == "" {
			return nil, d.Errorf(field, "required: a manifest names the type of its object with apiVersion and kind")
		}
	}
	if metadata, found := content["metadata"]; found {
		if _, ok := metadata.(map[string]any); !ok {
			return nil, d.Errorf("metadata", "must be an object")
		}
	}
	return object, nil
}

// Items returns the documents of the items of a list, such as the output of kubectl get -o yaml. If the document is
// another object, it returns only the document.
func (d *Document) Items() ([]*Document, error) {
	if d.GroupVersionKind() != (schema.GroupVersionKind{Version: "v1", Kind: "List"}) {
		return []*Document{d}, nil
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.raw, &list); err != nil {
		return nil, d.decodingError(err)
	}
	var documents []*Document
	for i := range list.Items {
		documents = append(documents, d.Field(fmt.Sprintf("items[%d]", i), list.Items[i]))
	}
	return documents, nil
}

// Field returns the document of the value at a path. raw is the value as JSON.
func (d *Document) Field(path string, raw []byte) *Document {
	node, place := find(d.node, path)
	return &Document{file: d.file, field: d.fieldAt(path), lines: d.lines, node: node, place: place, raw: raw}
}
