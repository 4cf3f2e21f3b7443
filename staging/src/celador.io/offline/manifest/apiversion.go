// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	nodes "go.yaml.in/yaml/v3"

	v1 "celador.io/api/admissionregistration/v1"
)

// native returns the apiVersion of admissionregistration.k8s.io for that of the polyfill, because
// both groups have the same kinds with the same fields. It returns other apiVersions as they are.
func native(apiVersion string) string {
	if apiVersion == v1.PolyfillGroupVersion.String() {
		return v1.SchemeGroupVersion.String()
	}
	return apiVersion
}

// WithAPIVersions returns the content of a file in which the objects, and the items of lists, have
// other apiVersions. For each object, change returns the new apiVersion, or "" to keep the old one.
// Comments and format stay as they are. data is in an encoding that ReadFile accepts. The file name
// is used in errors only. These are the errors of Parse, and one for each apiVersion to change that
// is written with an anchor, alias or escape sequence.
func WithAPIVersions(file string, data []byte, change func(apiVersion, kind string) string) ([]byte, error) {
	data = UTF8(data)
	if _, err := Parse(file, data); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	var errs []error
	lines := 0 // before the text
	for _, text := range Split(data) {
		text = withoutJSONEscapes(text)
		var root nodes.Node
		if err := nodes.Unmarshal(text, &root); err != nil {
			return nil, err
		}
		var changed []apiVersion
		if len(root.Content) > 0 {
			changed = changedAPIVersions(root.Content[0], change)
		}
		// From the end, because a change moves what is behind it on the line.
		slices.SortFunc(changed, func(a, b apiVersion) int {
			return cmp.Or(cmp.Compare(b.node.Line, a.node.Line), cmp.Compare(b.node.Column, a.node.Column))
		})
		contents := bytes.SplitAfter(text, []byte("\n"))
		for _, v := range changed {
			line := contents[v.node.Line-1]
			start := 0
			for range v.node.Column - 1 { // columns count characters
				_, size := utf8.DecodeRune(line[start:])
				start += size
			}
			rest := bytes.TrimLeft(line[start:], `"'`)
			if !bytes.HasPrefix(rest, []byte(v.node.Value)) || v.node.Kind == nodes.AliasNode {
				errs = append(errs, &Error{Position{file, v.node.Line + lines, v.node.Column}, apiVersionField, "cannot be changed: write it without anchor, alias and escape sequences"})
				continue
			}
			contents[v.node.Line-1] = append(line[:start:start], bytes.Replace(line[start:], []byte(v.node.Value), []byte(v.to), 1)...)
		}
		lines += bytes.Count(text, []byte("\n"))
		out.Write(bytes.Join(contents, nil))
	}
	return out.Bytes(), errors.Join(errs...)
}

const apiVersionField = "apiVersion"

// apiVersion is the value of a field apiVersion that is to be changed.
type apiVersion struct {
	node *nodes.Node
	to   string
}

// changedAPIVersions returns the apiVersion fields that WithAPIVersions rewrites, each with its new
// value: those of the object and, if it is a list, of its items for which change returns a new
// apiVersion. change returns "" to keep the old one.
func changedAPIVersions(object *nodes.Node, change func(apiVersion, kind string) string) []apiVersion {
	var own *nodes.Node
	var kind string
	var items []*nodes.Node
	for i := 0; object.Kind == nodes.MappingNode && i+1 < len(object.Content); i += 2 {
		switch value := object.Content[i+1]; object.Content[i].Value {
		case apiVersionField:
			own = value
		case "kind":
			kind = resolved(value).Value
		case "items":
			items = resolved(value).Content
		}
	}
	var changed []apiVersion
	kind, isList := strings.CutSuffix(kind, "List")
	if own != nil {
		from := resolved(own).Value
		if to := change(from, kind); to != "" && to != from {
			changed = append(changed, apiVersion{own, to})
		}
	}
	if isList {
		for _, item := range items {
			changed = append(changed, changedAPIVersions(item, change)...)
		}
	}
	return changed
}
