// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"sync"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// A Schema holds what is needed to read unstructured values that an OpenAPI schema describes. It
// analyzes a part of the OpenAPI schema on the first read of a value with that part, because
// common.Schema converts the properties of a schema on each call. A Schema is safe for concurrent
// use.
type Schema struct {
	source common.Schema
	// open is set if expressions read values that the OpenAPI schema leaves open.
	open bool
	once sync.Once
	layout
}

// A layout is what an analysis of an OpenAPI schema finds: all that reading its values needs.
type layout struct {
	form     schemaForm
	nullable bool
	// typeName is the OpenAPI type, and listType the x-kubernetes-list-type of arrays.
	typeName, listType string
	// fields holds the properties of an object with properties, and is nil for other objects.
	// Expressions read such objects with escaped names, and null as an absent field.
	fields map[string]*Schema
	// elem is the schema of the items of an array, of the values of an object without properties,
	// or of the fields that an open schema does not declare. It is nil if there is none.
	elem *Schema
	// stringItems is set if the type of the items of an array is string.
	stringItems bool
	// keys holds the x-kubernetes-list-map-keys.
	keys []listKey
}

// A schemaForm is the kind of CEL values that a schema describes.
type schemaForm int

const (
	schemaInvalid schemaForm = iota
	schemaIntOrString
	schemaObject
	schemaArray
	schemaString
	schemaDuration
	schemaDate
	schemaDateTime
	schemaByte
	schemaNumber
	schemaInteger
	schemaBoolean
	schemaPreserved
	// schemaDynamic is the form of values without a type, and of undeclared fields, in an open
	// schema. Expressions read them like any JSON value. In other schemas, a value without a type
	// that preserves unknown fields is schemaPreserved, which expressions can only compare.
	schemaDynamic
)

// NewSchema returns the Schema of an OpenAPI schema, which must not change afterwards.
func NewSchema(source common.Schema) *Schema { return &Schema{source: source} }

func (s *Schema) analyzed() *layout {
	s.once.Do(func() {
		s.layout = analyze(s.source, s.open)
		// The schemas of the parts refer to what they need of source.
		s.source = nil
	})
	return &s.layout
}

func analyze(s common.Schema, open bool) layout {
	part := func(s common.Schema) *Schema { return &Schema{source: s, open: open} }
	l := layout{typeName: s.Type(), nullable: s.Nullable()}
	switch {
	case s.IsXIntOrString():
		l.form = schemaIntOrString
	case l.typeName == "object":
		l.form = schemaObject
		if s.IsXEmbeddedResource() && open {
			s = EmbeddedResource(s)
		} else if s.IsXEmbeddedResource() {
			s = s.WithTypeAndObjectMeta()
		}
		if properties := s.Properties(); properties != nil && !(open && len(properties) == 0) {
			l.fields = make(map[string]*Schema, len(properties))
			for name, property := range properties {
				l.fields[name] = part(property)
			}
		} else if additional := s.AdditionalProperties(); additional != nil && additional.Schema() != nil {
			l.elem = part(additional.Schema())
		}
		if open && l.elem == nil && PreservesUnknown(s) {
			l.elem = dynamic
		}
	case l.typeName == "array":
		l.form, l.listType = schemaArray, s.XListType()
		if items := s.Items(); items != nil {
			l.elem, l.stringItems = part(items), items.Type() == "string"
		}
		for _, key := range s.XListMapKeys() {
			l.keys = append(l.keys, newListKey(key))
		}
	case l.typeName == "string":
		l.form = stringForm(s.Format())
	case l.typeName == "number":
		l.form = schemaNumber
	case l.typeName == "integer":
		l.form = schemaInteger
	case l.typeName == "boolean":
		l.form = schemaBoolean
	case open:
		// Validation accepts null, too, if a schema has no type.
		l.form, l.nullable = schemaDynamic, true
	case s.IsXPreserveUnknownFields():
		l.form = schemaPreserved
	}
	return l
}

func stringForm(format string) schemaForm {
	switch format {
	case "duration":
		return schemaDuration
	case "date":
		return schemaDate
	case "date-time":
		return schemaDateTime
	case "byte":
		return schemaByte
	default:
		return schemaString
	}
}

// Value returns the CEL value of an unstructured value that the schema describes. It behaves like
// the value that common.UnstructuredToVal returns for the OpenAPI schema, at the same CEL cost. A
// value that does not match the schema is a CEL error. Value is safe for concurrent use; the
// returned value is not.
func (s *Schema) Value(unstructured any) ref.Val {
	l := s.analyzed()
	if unstructured == nil {
		if l.nullable {
			return types.NullValue
		}
		return types.NewErr("invalid data, got null for schema with nullable=false")
	}
	switch l.form {
	case schemaIntOrString:
		if text, ok := unstructured.(string); ok {
			return types.String(text)
		}
		if n, ok := integer(unstructured); ok {
			return types.Int(n)
		}
		return types.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
	case schemaObject:
		entries, ok := unstructured.(map[string]any)
		if !ok {
			return types.NewErr("invalid data, expected a map for the provided schema with type=object")
		}
		return &schemaMap{layout: l, entries: entries}
	case schemaArray:
		return l.list(unstructured)
	case schemaString, schemaDuration, schemaDate, schemaDateTime, schemaByte:
		text, ok := unstructured.(string)
		if !ok {
			return types.NewErr("invalid data, expected string, got %T", unstructured)
		}
		return l.form.text(text)
	case schemaNumber:
		return number(unstructured)
	case schemaInteger:
		if n, ok := integer(unstructured); ok {
			return types.Int(n)
		}
		return types.NewErr("invalid data, expected int, got %T", unstructured)
	case schemaBoolean:
		if b, ok := unstructured.(bool); ok {
			return types.Bool(b)
		}
		return types.NewErr("invalid data, expected bool, got %T", unstructured)
	case schemaPreserved:
		return &preserved{unstructured}
	case schemaDynamic:
		return types.DefaultTypeAdapter.NativeToValue(unstructured)
	default:
		return types.NewErr("invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got %s", l.typeName)
	}
}

func (l *layout) list(unstructured any) ref.Val {
	elements, ok := unstructured.([]any)
	if !ok {
		return types.NewErr("invalid data, expected an array for the provided schema with type=array")
	}
	if l.elem == nil {
		return types.NewErr("invalid array type, expected Items with a non-empty Schema")
	}
	list := schemaList{layout: l, elements: elements}
	switch l.listType {
	case "", "atomic":
		return &list
	case "set":
		return &schemaSet{schemaList: list}
	case "map":
		return &schemaMapList{schemaList: list}
	default:
		return types.NewErr("invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got %s", l.listType)
	}
}

// text returns the CEL value of a string whose format in the schema has the form f.
func (f schemaForm) text(text string) ref.Val {
	switch f {
	case schemaDuration:
		d, err := strfmt.ParseDuration(text)
		if err != nil {
			return types.NewErr("Invalid duration %s: %v", text, err)
		}
		return types.Duration{Duration: d}
	case schemaDate:
		d, err := time.Parse(strfmt.RFC3339FullDate, text)
		if err != nil {
			return types.NewErr("Invalid date formatted string %s: %v", text, err)
		}
		return types.Timestamp{Time: d}
	case schemaDateTime:
		d, err := strfmt.ParseDateTime(text)
		if err != nil {
			return types.NewErr("Invalid date-time formatted string %s: %v", text, err)
		}
		return types.Timestamp{Time: time.Time(d)}
	case schemaByte:
		decoded := strfmt.Base64{}
		if err := decoded.UnmarshalText([]byte(text)); err != nil {
			return types.NewErr("Invalid byte formatted string %s: %v", text, err)
		}
		return types.Bytes(decoded)
	default:
		return types.String(text)
	}
}

func integer(unstructured any) (int64, bool) {
	switch n := unstructured.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case int32:
		return int64(n), true
	default:
		return 0, false
	}
}

// number returns the value of a number. Decoders return whole numbers such as 1.0 as integers.
func number(unstructured any) ref.Val {
	switch n := unstructured.(type) {
	case float64:
		return types.Double(n)
	case float32:
		return types.Double(n)
	}
	if n, ok := integer(unstructured); ok {
		return types.Double(n)
	}
	return types.NewErr("invalid data, expected float, got %T", unstructured)
}
