// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// merge merges an apply configuration into a copy of an object of a built-in type. The result is equal
// to the result of structured-merge-diff, which converts the whole object and takes many times as
// long. merge visits only the fields of the configuration. The copy shares all other fields with the
// object. The object must be stable. changed reports whether the copy differs from the object.
//
// merge returns nil for configurations that it does not support, such as configurations with nulls,
// empty maps or atomic lists. The caller then uses structured-merge-diff.
func merge(object runtime.Object, configuration *typed.TypedValue) (copied runtime.Object, changed bool) {
	original := reflect.ValueOf(object)
	if original.Kind() != reflect.Pointer || original.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	result := reflect.New(original.Type().Elem())
	result.Elem().Set(original.Elem())
	m := &merger{schema: configuration.Schema()}
	if !m.merge(result.Elem(), configuration.AsValue(), configuration.TypeRef()) {
		return nil, false
	}
	return result.Interface().(runtime.Object), m.changed
}

// A merger merges one configuration.
type merger struct {
	schema  *schema.Schema
	changed bool
}

// merge merges v into a field of the copy. It reports whether it supports v. Maps, slices and the
// targets of pointers are copied before they are written to, because the object shares them.
func (m *merger) merge(into reflect.Value, v value.Value, of schema.TypeRef) bool {
	atom, ok := m.schema.Resolve(of)
	switch {
	case !ok || v == nil || v.IsNull():
		return false
	case into.Kind() == reflect.Pointer:
		return m.mergePointer(into, v, of)
	case v.IsMap() && atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic && !unmarshalsItself(into.Type()):
		return m.mergeMap(into, v.AsMap(), atom.Map)
	case v.IsList() && atom.List != nil && atom.List.ElementRelationship == schema.Associative && into.Kind() == reflect.Slice:
		return m.mergeList(into, v, atom.List, of)
	case v.IsMap() || v.IsList() || atom.Scalar == nil:
		return false
	default:
		return m.set(into, v.Unstructured())
	}
}

// unmarshalsItself reports whether a type has a custom unmarshaler, so that its JSON differs from its
// fields.
func unmarshalsItself(t reflect.Type) bool {
	return value.TypeReflectEntryOf(t).CanConvertFromUnstructured()
}

func (m *merger) mergePointer(into reflect.Value, v value.Value, of schema.TypeRef) bool {
	pointed := reflect.New(into.Type().Elem())
	absent := into.IsNil()
	if !absent {
		pointed.Elem().Set(into.Elem())
	}
	if !m.merge(pointed.Elem(), v, of) {
		return false
	}
	m.changed = m.changed || absent
	into.Set(pointed)
	return true
}

// mergeMap merges a map of the configuration into a struct or a map. It does not support empty maps,
// because structured-merge-diff keeps some of them and drops others.
func (m *merger) mergeMap(into reflect.Value, fields value.Map, of *schema.Map) bool {
	if fields.Empty() {
		return false
	}
	switch into.Kind() {
	case reflect.Struct:
		if inlinesPointer(into.Type()) {
			return false // the copy would share the target of the pointer
		}
		known := value.TypeReflectEntryOf(into.Type()).Fields()
		return fields.Iterate(func(name string, v value.Value) bool {
			field, isKnown := known[name]
			described, isDescribed := of.FindField(name)
			if !isKnown || !isDescribed {
				return false
			}
			target := field.GetFrom(into)
			return target.IsValid() && target.CanSet() && m.merge(target, v, described.Type)
		})
	case reflect.Map:
		if into.Type().Key().Kind() != reflect.String {
			return false
		}
		m.copyMap(into)
		return fields.Iterate(func(name string, v value.Value) bool {
			key := reflect.ValueOf(name).Convert(into.Type().Key())
			element := reflect.New(into.Type().Elem()).Elem()
			existing := into.MapIndex(key)
			if existing.IsValid() {
				element.Set(existing)
			}
			described := of.ElementType
			if field, ok := of.FindField(name); ok {
				described = field.Type
			}
			if !m.merge(element, v, described) {
				return false
			}
			m.changed = m.changed || !existing.IsValid()
			into.SetMapIndex(key, element)
			return true
		})
	default:
		return false
	}
}

func (m *merger) copyMap(into reflect.Value) {
	copied := reflect.MakeMapWithSize(into.Type(), into.Len()+1)
	for entries := into.MapRange(); entries.Next(); {
		copied.SetMapIndex(entries.Key(), entries.Value())
	}
	into.Set(copied)
}

// mergeList merges a list of the configuration into a list with keys or into a set. New elements are
// appended.
func (m *merger) mergeList(into reflect.Value, v value.Value, of *schema.List, ref schema.TypeRef) bool {
	list := v.AsList()
	if len(of.Keys) == 0 && list.Length() == 1 {
		return m.addToSet(into, list.At(0))
	}
	positions, ok := m.positions(into, list, of)
	if !ok {
		return m.mergeWhole(into, v, ref)
	}
	copied := reflect.MakeSlice(into.Type(), into.Len(), into.Len()+list.Length())
	reflect.Copy(copied, into)
	for i, at := range positions {
		if at == copied.Len() {
			copied = reflect.Append(copied, reflect.Zero(into.Type().Elem()))
			m.changed = true
		}
		if !m.merge(copied.Index(at), list.At(i), of.ElementType) {
			return false
		}
	}
	into.Set(copied)
	return true
}

// positions returns the positions of the elements in a list. New elements have the positions after its
// end. ok is false for elements whose keys find does not support, and if the configuration has
// existing elements in another order than the list.
func (m *merger) positions(list reflect.Value, elements value.List, of *schema.List) (positions []int, ok bool) {
	last, end := -1, list.Len()
	for i := range elements.Length() {
		at, ok := m.find(list, elements.At(i), of)
		switch {
		case !ok || at < list.Len() && at <= last:
			return nil, false
		case at == list.Len():
			at = end
			end++
		}
		positions, last = append(positions, at), at
	}
	return positions, len(positions) > 0
}

// find returns the position of the list element with the same keys, or the length of the list if there
// is none. ok is false if several elements have the keys, or if a key is missing or zero, because its
// default in the schema may apply.
func (m *merger) find(list reflect.Value, element value.Value, of *schema.List) (at int, ok bool) {
	if !element.IsMap() {
		return 0, false
	}
	entry := value.TypeReflectEntryOf(list.Type().Elem()).Fields()
	at = list.Len()
	for i := range list.Len() {
		found := true
		for _, key := range of.Keys {
			field, known := entry[key]
			keyValue, given := element.AsMap().Get(key)
			if !known || !given || isZero(keyValue) {
				return 0, false
			}
			equal, ok := equals(field.GetFrom(list.Index(i)), keyValue)
			if !ok {
				return 0, false
			}
			found = found && equal
		}
		switch {
		case found && at != list.Len():
			return 0, false // duplicate keys
		case found:
			at = i
		}
	}
	// The loop above does not check the keys if the list is empty. A zero key with omitempty is missing
	// from the JSON of the element.
	for _, key := range of.Keys {
		if keyValue, given := element.AsMap().Get(key); !given || isZero(keyValue) {
			return 0, false
		}
	}
	return at, true
}

// isZero reports whether a key is a zero value or of a type that equals does not support.
func isZero(key value.Value) bool {
	return key.IsString() && key.AsString() == "" || key.IsInt() && key.AsInt() == 0 || key.IsFloat() || key.IsBool() || key.IsNull()
}

// equals reports whether the field of a list element has the value of a key. ok is false if the field is
// absent or zero, or neither a string nor a signed integer.
func equals(field reflect.Value, key value.Value) (equal, ok bool) {
	switch {
	case !field.IsValid() || field.IsZero():
		return false, false
	case field.Kind() == reflect.String:
		return key.IsString() && key.AsString() == field.String(), true
	case field.CanInt():
		return key.IsInt() && key.AsInt() == field.Int(), true
	default:
		return false, false
	}
}

// addToSet appends a scalar to a set, unless the set contains it. It reports whether it supports the
// element and the set, in which the element must not be duplicate.
func (m *merger) addToSet(into reflect.Value, element value.Value) bool {
	if element.IsMap() || element.IsList() || element.IsNull() {
		return false
	}
	added := reflect.New(into.Type().Elem()).Elem()
	if !(&merger{}).set(added, element.Unstructured()) {
		return false
	}
	times := 0
	for i := range into.Len() {
		if sameInJSON(into.Index(i), added) {
			times++
		}
	}
	if times > 0 {
		return times == 1
	}
	copied := reflect.MakeSlice(into.Type(), into.Len(), into.Len()+1)
	reflect.Copy(copied, into)
	into.Set(reflect.Append(copied, added))
	m.changed = true
	return true
}

// mergeWhole merges a list with structured-merge-diff. It reports whether it supports v.
func (m *merger) mergeWhole(into reflect.Value, v value.Value, ref schema.TypeRef) bool {
	if v.AsList().Length() == 0 || !m.plain(v, ref) {
		return false
	}
	if into.IsNil() {
		return m.set(into, v.Unstructured())
	}
	live, err := value.NewValueReflect(into.Addr().Interface())
	if err != nil {
		return false
	}
	before, err := typed.AsTyped(live, m.schema, ref, typed.AllowDuplicates)
	if err != nil {
		return false
	}
	configuration, err := typed.AsTyped(v, m.schema, ref)
	if err != nil {
		return false
	}
	merged, err := before.Merge(configuration)
	if err != nil {
		return false
	}
	return m.set(into, merged.AsValue().Unstructured())
}

// plain reports whether a value contains no nulls, no empty maps and no atomic maps or lists.
func (m *merger) plain(v value.Value, ref schema.TypeRef) bool {
	atom, ok := m.schema.Resolve(ref)
	switch {
	case !ok || v.IsNull():
		return false
	case v.IsMap():
		return atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic && !v.AsMap().Empty() &&
			v.AsMap().Iterate(func(name string, v value.Value) bool {
				if field, ok := atom.Map.FindField(name); ok {
					return m.plain(v, field.Type)
				}
				return m.plain(v, atom.Map.ElementType)
			})
	case v.IsList():
		if atom.List == nil || atom.List.ElementRelationship != schema.Associative {
			return false
		}
		for i := range v.AsList().Length() {
			if !m.plain(v.AsList().At(i), atom.List.ElementType) {
				return false
			}
		}
		return true
	default:
		return true
	}
}

// set converts a JSON value to the Go type of a field and sets the field.
func (m *merger) set(into reflect.Value, v any) bool {
	holder := reflect.New(holderOf(into.Type()))
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"value": v}, holder.Interface()); err != nil {
		return false
	}
	set := holder.Elem().Field(0)
	m.changed = m.changed || !sameInJSON(into, set)
	into.Set(set)
	return true
}

// sameInJSON reports whether two addressable values of one type have the same JSON. Equal
// quantities may have different formats.
func sameInJSON(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.String:
		return a.String() == b.String()
	case reflect.Bool:
		return a.Bool() == b.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return a.Int() == b.Int()
	}
	before, err := value.NewValueReflect(a.Addr().Interface())
	if err != nil {
		return false
	}
	after, err := value.NewValueReflect(b.Addr().Interface())
	return err == nil && reflect.DeepEqual(before.Unstructured(), after.Unstructured())
}

var holders sync.Map // of reflect.Type by reflect.Type

// holderOf returns the type of a struct with one field of the given type. DefaultUnstructuredConverter
// converts only structs.
func holderOf(t reflect.Type) reflect.Type {
	if known, ok := holders.Load(t); ok {
		return known.(reflect.Type)
	}
	holder := reflect.StructOf([]reflect.StructField{{Name: "Value", Type: t, Tag: `json:"value"`}})
	holders.Store(t, holder)
	return holder
}

var pointerInliners sync.Map // of bool by reflect.Type

// inlinesPointer reports whether a struct type, or a struct embedded in it, embeds a pointer.
func inlinesPointer(t reflect.Type) bool {
	if known, ok := pointerInliners.Load(t); ok {
		return known.(bool)
	}
	inlines := false
	for i := range t.NumField() {
		field := t.Field(i)
		inlines = inlines || field.Anonymous && (field.Type.Kind() == reflect.Pointer || field.Type.Kind() == reflect.Struct && inlinesPointer(field.Type))
	}
	pointerInliners.Store(t, inlines)
	return inlines
}
