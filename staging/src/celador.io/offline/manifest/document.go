// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	nodes "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// A Document is a document of a file, or a value inside one. It is immutable and safe for
// concurrent use.
type Document struct {
	file  string
	field string // the path of the value in its document, empty for the document
	lines int    // the number of lines before the document in the file
	node  *nodes.Node
	place *nodes.Node // has the position of the value: its key, or the value itself
	raw   []byte
	// places are the positions and paths of the values of a document that was not read from a file.
	// Nil otherwise.
	places map[*nodes.Node]place
}

// Raw returns the value as JSON. Callers must not change it.
func (d *Document) Raw() []byte { return d.raw }

// GroupVersionKind returns the type that apiVersion and kind name. For a policy or binding of the
// polyfill, it is that of the native kind. It is empty if the value has none.
func (d *Document) GroupVersionKind() schema.GroupVersionKind {
	var meta metav1.TypeMeta
	if kjson.UnmarshalCaseSensitivePreserveInts(d.raw, &meta) != nil {
		return schema.GroupVersionKind{}
	}
	meta.APIVersion = native(meta.APIVersion)
	return meta.GroupVersionKind()
}

// Decode decodes the value into a pointer to a Go type with JSON tags. Unknown fields and values of
// other types are errors, each with its position.
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

// Member returns the path of the field with a key in the object at a path.
func Member(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func item(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// Object returns the value as an object. A policy or binding of the polyfill gets the apiVersion of
// the native kind. It is an error if apiVersion or kind is missing. The caller owns the object.
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
	content["apiVersion"] = native(object.GetAPIVersion())
	if metadata, found := content["metadata"]; found {
		if _, ok := metadata.(map[string]any); !ok {
			return nil, d.Errorf("metadata", "must be an object")
		}
	}
	return object, nil
}

// Items returns the documents of the items of a list, such as the output of kubectl get -o yaml.
// Items without a type get the one of the list: a ConfigMapList has ConfigMaps. If the document is
// another object, which may have a kind such as AllowList, it returns only the document.
func (d *Document) Items() ([]*Document, error) {
	kind, isList := strings.CutSuffix(d.GroupVersionKind().Kind, "List")
	if !isList {
		return []*Document{d}, nil
	}
	var list struct {
		APIVersion string            `json:"apiVersion"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.raw, &list); err != nil {
		return nil, d.decodingError(err)
	}
	if list.Items == nil && kind != "" {
		return []*Document{d}, nil
	}
	var documents []*Document
	var errs []error
	for i := range list.Items {
		document := d.Field(fmt.Sprintf("items[%d]", i), list.Items[i])
		if err := document.inherit(list.APIVersion, kind); err != nil {
			errs = append(errs, err)
		}
		documents = append(documents, document)
	}
	return documents, errors.Join(errs...)
}

// inherit sets apiVersion and kind if the value has neither and the kind is not empty.
func (d *Document) inherit(apiVersion, kind string) error {
	if kind == "" || d.GroupVersionKind() != (schema.GroupVersionKind{}) {
		return nil
	}
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.raw, &content); err != nil {
		return d.decodingError(err)
	}
	if content == nil {
		content = map[string]any{}
	}
	content["apiVersion"], content["kind"] = apiVersion, kind
	var err error
	d.raw, err = json.Marshal(content)
	return err
}

// Field returns the document of the value at a path. raw is the value as JSON.
func (d *Document) Field(path string, raw []byte) *Document {
	node, place, _ := find(d.node, path)
	return &Document{file: d.file, field: d.fieldAt(path), lines: d.lines, node: node, place: place, raw: raw, places: d.places}
}
