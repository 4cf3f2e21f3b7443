// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// Limits of the results of all rules for one object. A request has at most 3 MiB and etcd accepts
// objects of 1.5 MiB, so larger results could not be stored. A part that occurs several times in a
// result counts each time, because the unstructured value has a copy of it in each place.
const (
	// MaxText is the maximum size in bytes of all strings in the results, keys included.
	MaxText = 4 << 20
	// MaxElements is the maximum number of values in the results, lists and maps included.
	MaxElements = 1 << 20
	// MaxDepth is the maximum depth of lists and maps in a result, as in JSON requests.
	MaxDepth = 10000
)

// An Assigner converts what the rules for one object return to unstructured values. The limits
// apply to all of them together. The zero value is ready to use. It is not safe for concurrent use.
type Assigner struct {
	elements, text, depth int
}

// Assign returns the unstructured value that a rule gives to a field. to is the schema of the
// field, existing its value before, or nil, and result what the rule has returned. If that is null
// or optional.none(), the rule leaves the field unset, and Assign returns false.
//
// If the rule constructs an object, Assign merges it into existing field by field, in place. In the
// constructed object, optional.none() leaves a field as it is, and null removes it, or sets it to
// null if it is nullable. Any other result replaces existing. Maps that the rule copies from the
// object that it reads lose the fields that the schema does not declare, as if they were pruned.
//
// Assign returns an error if the value does not have the type of the schema. existing may have been
// changed in part then. The value shares nothing with the object that the rule reads.
func (r *Assigner) Assign(existing any, result ref.Val, to *structuralschema.Structural) (value any, set bool, err error) {
	if result == nil {
		return nil, false, fmt.Errorf("the rule has no result")
	}
	result = valueOf(result)
	if result == nil || result == types.NullValue {
		return nil, false, nil
	}
	value, m := r.value(existing, result, to)
	if m != nil {
		return nil, false, m
	}
	return value, true, nil
}

// Check returns an error if an unstructured value, or a part of it, does not have the type that the
// schema declares. Fields that the schema does not declare are not checked.
func (r *Assigner) Check(value any, to *structuralschema.Structural) error {
	_, m := r.value(nil, value, to)
	if m == nil {
		return nil
	}
	m.advice = "" // It is about expressions.
	return errors.New(m.describe("it is"))
}

// valueOf returns the value in an optional, or nil if it has none. It returns v itself if that is
// not an optional.
func valueOf(v ref.Val) ref.Val {
	for {
		optional, ok := v.(*types.Optional)
		if !ok {
			return v
		}
		if !optional.HasValue() {
			return nil
		}
		v = optional.GetValue()
	}
}

// enter counts a value towards the limits of the results, with its number of bytes of text, and
// returns a mismatch if a limit is exceeded. Since the nesting of values is limited, too, the
// caller calls leave after it has converted the values inside.
func (r *Assigner) enter(text int) *mismatch {
	r.elements++
	r.text += text
	r.depth++
	switch {
	case r.elements > MaxElements:
		return &mismatch{reason: fmt.Sprintf("the results of the rules have more than %d values: filter lists, or return a part of them", MaxElements)}
	case r.text > MaxText:
		return &mismatch{reason: fmt.Sprintf("the results of the rules have more than %d bytes of text: shorten them", MaxText)}
	case r.depth > MaxDepth:
		return &mismatch{reason: fmt.Sprintf("the lists and maps of the result are nested deeper than %d", MaxDepth)}
	}
	return nil
}

func (r *Assigner) leave() { r.depth-- }

// value converts a CEL value, or an unstructured one, to an unstructured value of the type that the
// schema to declares. If v is an object that the rule has constructed, its fields are merged into
// existing.
func (r *Assigner) value(existing, v any, to *structuralschema.Structural) (any, *mismatch) {
	v = dataOf(v)
	defer r.leave()
	if m := r.enter(textOf(v)); m != nil {
		return nil, m
	}
	switch v := v.(type) {
	case *types.Err:
		return nil, &mismatch{reason: v.Error()}
	case types.Null:
		if to.Nullable || IsAny(to) {
			return nil, nil
		}
		return nil, &mismatch{got: "null", want: Describe(to), advice: "only optional fields can be left out with null"}
	case *object:
		return r.object(existing, v, to)
	case []any:
		return r.list(len(v), func(i int) any { return v[i] }, to)
	case map[string]any:
		return r.source(v, to)
	case traits.Lister:
		size, m := r.sizeOf(v)
		if m != nil {
			return nil, m
		}
		return r.list(size, func(i int) any { return itemOf(v, i) }, to)
	case traits.Mapper:
		return r.entries(v, to)
	}
	return scalar(v.(ref.Val), to)
}

// concatenation is the Go type of the lists that the operator + returns, which cel-go does not
// export. dataOf leaves such lists as they are: their method Value would convert all items.
var concatenation = func() reflect.Type {
	one := types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{types.True})
	return reflect.TypeOf(one.Add(one))
}()

// dataOf returns the unstructured value behind a list or map that comes from self or json.decode.
// In it, names are not escaped for CEL, and texts with a format are still strings. It returns all
// other values as they are.
func dataOf(v any) any {
	switch v := v.(type) {
	case map[string]any, []any:
		return v
	case traits.Lister, traits.Mapper:
		if reflect.TypeOf(v) == concatenation {
			return v // Value would convert all items.
		}
		switch data := v.(ref.Val).Value().(type) {
		case map[string]any, []any:
			return data
		}
		return v
	case ref.Val:
		return v
	default:
		return types.DefaultTypeAdapter.NativeToValue(v)
	}
}

// textOf returns the number of bytes of text in a scalar.
func textOf(v any) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	default:
		return 0
	}
}

// IsAny reports whether a schema allows every JSON value.
func IsAny(to *structuralschema.Structural) bool {
	return to.Type == "" && !to.XIntOrString
}

// object converts an object that the rule has constructed. If existing is an object, the
// constructed fields are merged into it, in place.
func (r *Assigner) object(existing any, v *object, to *structuralschema.Structural) (any, *mismatch) {
	if to.Type != "object" && !IsAny(to) {
		return nil, &mismatch{got: describeType(v.objectType.celType), want: Describe(to), advice: advice(v.objectType.celType, to)}
	}
	fields, ok := existing.(map[string]any)
	if !ok {
		fields = make(map[string]any, len(v.fields))
	}
	// Sorted, so that of several errors the same one is returned each time.
	for _, name := range slices.Sorted(maps.Keys(v.fields)) {
		property, ok := apiservercel.Unescape(name)
		if !ok {
			property = name
		}
		r.text += len(property)
		step := rulepath.Segment{Name: property}
		schema, known := fieldSchema(to, property)
		if !known {
			return nil, noField(to).below(step)
		}
		field := valueOf(v.fields[name])
		if field == nil {
			continue
		}
		if field == types.NullValue && !schema.Nullable && !IsAny(schema) {
			delete(fields, property)
			continue
		}
		value, m := r.value(fields[property], field, schema)
		if m != nil {
			return nil, m.below(step)
		}
		fields[property] = value
	}
	return fields, nil
}

func noField(to *structuralschema.Structural) *mismatch {
	if len(to.Properties) == 0 {
		return &mismatch{reason: "the schema has no such field: declare it"}
	}
	return &mismatch{reason: "the schema has no such field: its fields are " + ruleschema.ListNames(maps.Keys(to.Properties))}
}

// fieldSchema returns the schema of the field or map entry with the given name. It returns false if
// the schema to does not allow one.
func fieldSchema(to *structuralschema.Structural, name string) (*structuralschema.Structural, bool) {
	if schema, ok := to.Properties[name]; ok {
		return &schema, true
	}
	if values := ruleschema.Values(to); values != nil {
		return values, true
	}
	if PreservesUnknown(to) || IsAny(to) {
		return &anyJSON, true
	}
	return nil, false
}

// anyJSON describes unknown fields that are preserved.
var anyJSON = structuralschema.Structural{Extensions: structuralschema.Extensions{XPreserveUnknownFields: true}}

// itemSchema returns the schema of the items of a list, or nil if the schema describes no list.
func itemSchema(to *structuralschema.Structural) *structuralschema.Structural {
	if IsAny(to) {
		return &anyJSON
	}
	return to.Items
}

// list converts a list of a number of items, each a CEL value or a JSON value.
func (r *Assigner) list(size int, item func(int) any, to *structuralschema.Structural) (any, *mismatch) {
	schema := itemSchema(to)
	if schema == nil {
		return nil, noCollection(types.ListType, to)
	}
	items := make([]any, 0, size)
	for i := range size {
		value, m := r.value(nil, item(i), schema)
		if m != nil {
			return nil, m.below(rulepath.Segment{Item: true, Index: i})
		}
		items = append(items, value)
	}
	return items, checkListMap(items, to)
}

// source converts a map that the rule has copied from self or from json.decode. It leaves out the
// fields that pruning would remove.
func (r *Assigner) source(entries map[string]any, to *structuralschema.Structural) (any, *mismatch) {
	if to.Type != "object" && !IsAny(to) {
		return nil, noCollection(types.MapType, to)
	}
	converted := make(map[string]any, len(entries))
	var failed *mismatch
	var failedAt string
	for name, entry := range entries {
		schema, known := fieldSchema(to, name)
		if !known {
			continue
		}
		_, declared := to.Properties[name]
		if entry == nil && declared && !schema.Nullable && !IsAny(schema) {
			continue // An optional field of an object may be null in the source.
		}
		r.text += len(name)
		value, m := r.value(nil, entry, schema)
		if m != nil {
			// The error of the first entry in the order of names is returned, so that the error
			// does not depend on Go's random order of maps.
			if failed == nil || name < failedAt {
				failed, failedAt = m, name
			}
			if r.exceeded() {
				break
			}
			continue
		}
		converted[name] = value
	}
	if failed != nil {
		return nil, failed.below(rulepath.Segment{Name: failedAt})
	}
	return converted, nil
}

// exceeded reports whether the result of the rule has more elements, more text or more nesting than
// allowed. The conversion then ends, because the rule fails anyway.
func (r *Assigner) exceeded() bool {
	return r.elements > MaxElements || r.text > MaxText || r.depth >= MaxDepth
}

// entries converts a map that the expression has made, for example with a literal.
func (r *Assigner) entries(v traits.Mapper, to *structuralschema.Structural) (any, *mismatch) {
	if to.Type != "object" && !IsAny(to) {
		return nil, noCollection(types.MapType, to)
	}
	size, m := r.sizeOf(v)
	if m != nil {
		return nil, m
	}
	converted := make(map[string]any, size)
	for it := v.Iterator(); it.HasNext() == types.True; {
		key, isText := it.Next().(types.String)
		if !isText {
			return nil, &mismatch{got: "a map whose keys are not strings", want: Describe(to), advice: "write string(...) for the keys"}
		}
		name := string(key)
		step := rulepath.Segment{Name: name}
		r.text += len(name)
		if !utf8.ValidString(name) {
			return nil, &mismatch{reason: "a key of a map is not valid UTF-8"}
		}
		schema, known := fieldSchema(to, name)
		if !known {
			return nil, noField(to).below(step)
		}
		entry, found := v.Find(key)
		if !found {
			continue
		}
		if entry = valueOf(entry); entry == nil {
			continue
		}
		value, m := r.value(nil, entry, schema)
		if m != nil {
			return nil, m.below(step)
		}
		converted[name] = value
	}
	return converted, nil
}

// sizeOf returns the number of items or entries, or a mismatch if there are too many for a result.
func (r *Assigner) sizeOf(v traits.Sizer) (int, *mismatch) {
	size, ok := v.Size().(types.Int)
	if !ok || int64(size) > MaxElements {
		r.elements = MaxElements
		return 0, r.enter(0)
	}
	return int(size), nil
}

// itemOf returns an item of a list. An item cannot be unset, so optional.none() counts as null.
func itemOf(list traits.Lister, i int) ref.Val {
	if item := valueOf(list.Get(types.Int(i))); item != nil {
		return item
	}
	return types.NullValue
}

// noCollection returns the mismatch for a list or a map whose schema is that of a scalar.
func noCollection(t *types.Type, to *structuralschema.Structural) *mismatch {
	return &mismatch{got: t.TypeName(), want: Describe(to), advice: advice(t, to)}
}
