// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// decodingError returns the error of a decoder. If a value has the wrong type, the error has its
// position.
func (d *Document) decodingError(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return d.Errorf("", "%v", err)
	}
	return d.mismatch(pathAt(d.raw, mismatch.Offset), mismatch.Value, mismatch.Type.Kind().String())
}

// mismatch returns the error of a value of JSON type got where a decoder wants a value for the Go
// type want. The error does not name a type such as v1.Time, because the name does not show which
// JSON values are valid.
func (d *Document) mismatch(path, got, want string) *Error {
	if strings.Contains(want, ".") && !strings.HasPrefix(want, "[]") && !strings.HasPrefix(want, "map") {
		return d.Errorf(path, "a value of type %s is not allowed here", got)
	}
	return d.Errorf(path, "a value of type %s is not allowed here, want %s", got, typeName(want))
}

// typeName returns the name that JSON has for a type or a kind of Go.
func typeName(name string) string {
	switch {
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "integer"
	case name == "struct", strings.HasPrefix(name, "map"):
		return "object"
	case name == "slice", strings.HasPrefix(name, "[]"):
		return "array"
	case name == "bool":
		return "boolean"
	}
	return name
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
			path = Member(path, l.key)
		}
	}
	return path
}

// goMismatch matches the text of a json.UnmarshalTypeError, whose field has the path without the
// indexes of lists and the keys of maps.
var goMismatch = regexp.MustCompile(`cannot unmarshal (\w+) (?:[^ ]+ )?into Go (?:struct field \w*\.([^ ]+)|value) of type ([^ ]+)`)

// MismatchError returns an Error with the position of the field whose type is wrong according to
// err, the error of an API server that decoded the document. It returns nil for other errors.
func (d *Document) MismatchError(err error) *Error {
	match := goMismatch.FindStringSubmatch(err.Error())
	if match == nil {
		return nil
	}
	var value any
	if kjson.UnmarshalCaseSensitivePreserveInts(d.raw, &value) != nil {
		return nil
	}
	path, found := locate(value, strings.FieldsFunc(match[2], func(r rune) bool { return r == '.' }), match[1])
	if !found {
		path = match[2]
	}
	return d.mismatch(path, match[1], match[3])
}

// locate finds the value that the error of a Go decoder is about, and returns its path. The error
// has the JSON type of the value and its path without indexes of lists and keys of maps: fields. So
// locate looks into each item of a list on the way, and returns the first value of this type at
// fields, or directly in a list or map there.
func locate(value any, fields []string, jsonType string) (path string, found bool) {
	if len(fields) == 0 && typeOf(value) == jsonType {
		return "", true
	}
	switch value := value.(type) {
	case []any:
		for i := range value {
			if path, found := locate(value[i], fields, jsonType); found {
				return below(item("", i), path), true
			}
		}
	case map[string]any:
		if len(fields) > 0 {
			path, found := locate(value[fields[0]], fields[1:], jsonType)
			return below(fields[0], path), found
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if typeOf(value[key]) == jsonType {
				return key, true
			}
		}
	}
	return "", false
}

// typeOf returns the type of a JSON value, in the words of encoding/json.
func typeOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case nil:
		return "null"
	}
	return "number"
}
