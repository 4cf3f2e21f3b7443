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

	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// Limits of the results for one object. A request has at most 3 MiB and etcd accepts objects of 1.5
// MiB, so larger results could not be stored. A part that occurs several times in a result counts
// each time, because the unstructured value shares nothing.
const (
	// MaxText is the maximum size in bytes of all strings in the results, keys included.
	MaxText = 4 << 20
	// MaxElements is the maximum number of values in the results, lists and maps included.
	MaxElements = 1 << 20
	// MaxDepth is the maximum depth of lists and maps in a result, as in JSON requests.
	MaxDepth = 10000
)

// Results converts the results of the rules for one object. The limits apply to all of them
// together. The zero value is ready to use. It is not safe for concurrent use.
type Results struct {
	elements, text, depth int
}

// Assign converts the only result for an object. See Results.Assign.
func Assign(existing any, result ref.Val, to *structuralschema.Structural) (value any, set bool, err error) {
	return new(Results).Assign(existing, result, to)
}

// Assign returns the unstructured value that a field with the schema to has after a rule has
// returned result, and false if the field is left unset, because the result is null or
// optional.none(). existing is the value before, or nil. A constructed object is merged into
// existing field by field, also in place; all other values replace it. Assign returns an error if
// the value does not have the type of the schema. existing may have been changed in part then. The
// value shares nothing with the source of the rule.
//
// In a constructed object, optional.none() leaves a field as it is, and null removes it, or sets it
// to null if it is nullable. Fields of source objects that the schema does not declare are left
// out, as pruning would.
func (r *Results) Assign(existing any, result ref.Val, to *structuralschema.Structural) (value any, set bool, err error) {
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

// Check returns an error if an unstructured value does not have the type of a schema, with
// everything in it. Fields that the schema does not declare are not checked.
func (r *Results) Check(value any, to *structuralschema.Structural) error {
	_, m := r.raw(value, to)
	if m == nil {
		return nil
	}
	m.advice = "" // It is about expressions.
	return errors.New(m.describe("it is"))
}

// valueOf returns the value that an optional holds, nil if it holds none, or v if it is no
// optional.
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

// enter counts a value and its text. leave must be called after its parts are converted.
func (r *Results) enter(text int) *mismatch {
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

func (r *Results) leave() { r.depth-- }

// value converts v, which is not nil, to a value of a schema. existing is the value that a
// constructed object is merged into.
func (r *Results) value(existing any, v ref.Val, to *structuralschema.Structural) (any, *mismatch) {
	defer r.leave()
	if m := r.enter(textOf(v)); m != nil {
		return nil, m
	}
	switch v := v.(type) {
	case *types.Err:
		return nil, &mismatch{reason: v.Error()}
	case types.Null:
		if to.Nullable || isAny(to) {
			return nil, nil
		}
		return nil, &mismatch{got: "null", want: describeSchema(to), advice: "only optional fields can be left out with null"}
	case *object:
		return r.object(existing, v, to)
	case traits.Lister:
		if items, ok := goData(v).([]any); ok {
			return r.list(len(items), func(i int) any { return items[i] }, to)
		}
		size, m := r.sizeOf(v)
		if m != nil {
			return nil, m
		}
		return r.list(size, func(i int) any { return itemOf(v, i) }, to)
	case traits.Mapper:
		if entries, ok := goData(v).(map[string]any); ok {
			return r.rawMap(entries, to)
		}
		return r.entries(v, to)
	}
	return scalar(v, to)
}

// textOf returns the size of the text of a scalar.
func textOf(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	default:
		return 0
	}
}

// isAny reports whether a schema allows every JSON value.
func isAny(to *structuralschema.Structural) bool {
	return to.Type == "" && !to.XIntOrString
}

// object converts a constructed object. It changes existing, if that is an object.
func (r *Results) object(existing any, v *object, to *structuralschema.Structural) (any, *mismatch) {
	if to.Type != "object" && !isAny(to) {
		return nil, &mismatch{got: describeType(v.objectType.celType), want: describeSchema(to), advice: advice(v.objectType.celType, to)}
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
		if field == types.NullValue && !schema.Nullable && !isAny(schema) {
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
	return &mismatch{reason: "the schema has no such field: its fields are " + listFields(to)}
}

// fieldSchema returns the schema of a field or map value, and false if the schema does not allow
// it.
func fieldSchema(to *structuralschema.Structural, name string) (*structuralschema.Structural, bool) {
	if schema, ok := to.Properties[name]; ok {
		return &schema, true
	}
	if values := rulepath.Values(to); values != nil {
		return values, true
	}
	if PreservesUnknown(to) || isAny(to) {
		return &anyJSON, true
	}
	return nil, false
}

// anyJSON describes unknown fields that are preserved.
var anyJSON = structuralschema.Structural{Extensions: structuralschema.Extensions{XPreserveUnknownFields: true}}

// itemSchema returns the schema of the items of a list, or nil if the schema describes no list.
func itemSchema(to *structuralschema.Structural) *structuralschema.Structural {
	if isAny(to) {
		return &anyJSON
	}
	return to.Items
}

// list converts a list of a number of items, each a CEL value or a JSON value.
func (r *Results) list(size int, item func(int) any, to *structuralschema.Structural) (any, *mismatch) {
	schema := itemSchema(to)
	if schema == nil {
		return nil, noCollection(types.ListType, to)
	}
	items := make([]any, 0, size)
	for i := range size {
		value, m := r.raw(item(i), schema)
		if m != nil {
			return nil, m.below(rulepath.Segment{Item: true, Index: i})
		}
		items = append(items, value)
	}
	return items, checkListMap(items, to)
}

// entries converts a map that is no Go data, such as a map literal.
func (r *Results) entries(v traits.Mapper, to *structuralschema.Structural) (any, *mismatch) {
	if to.Type != "object" && !isAny(to) {
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
			return nil, &mismatch{got: "a map whose keys are not strings", want: describeSchema(to), advice: "write string(...) for the keys"}
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
func (r *Results) sizeOf(v traits.Sizer) (int, *mismatch) {
	size, ok := v.Size().(types.Int)
	if !ok || int64(size) > MaxElements {
		r.elements = MaxElements
		return 0, r.enter(0)
	}
	return int(size), nil
}

// itemOf returns an item of a list. optional.none() counts as null, because an item cannot be
// unset.
func itemOf(list traits.Lister, i int) ref.Val {
	if item := valueOf(list.Get(types.Int(i))); item != nil {
		return item
	}
	return types.NullValue
}

// noCollection returns the mismatch for a list or a map where the schema has neither.
func noCollection(t *types.Type, to *structuralschema.Structural) *mismatch {
	return &mismatch{got: t.TypeName(), want: describeSchema(to), advice: advice(t, to)}
}

// concatenation is the type of lists that + returns.
var concatenation = func() reflect.Type {
	one := types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{types.True})
	return reflect.TypeOf(one.Add(one))
}()

// goData returns the JSON value behind a list or map of self, which is converted as it is: it has
// the names and the texts of the source. It returns another value, or nil, for lists and maps that
// the expression made.
func goData(v ref.Val) any {
	if reflect.TypeOf(v) == concatenation {
		return nil // Value would convert all items.
	}
	return v.Value()
}
