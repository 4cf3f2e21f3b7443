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

// merge sets the fields of an apply configuration in a copy of an object of a built-in type, as
// the merge of structured-merge-diff does. It touches nothing else, which takes a small part of
// the time that a conversion of the whole object takes; the copy shares what it does not touch
// with the object. The object must be stable.
//
// It returns nil for all that is not plain, such as configurations with nulls and objects
// that do not fit their schema. That is left to the merge of structured-merge-diff.
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

type merger struct {
	schema  *schema.Schema
	changed bool
}

// merge merges v into a place of the copy, and says whether it could. Structs, maps, slices
// and what pointers point to are copied before they are written to.
func (m *merger) merge(into reflect.Value, v value.Value, of schema.TypeRef) bool {
	atom, ok := m.schema.Resolve(of)
	switch {
	case !ok || v == nil || v.IsNull():
		return false
	case into.Kind() == reflect.Pointer:
		return m.mergePointer(into, v, of)
	case v.IsMap() && atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic && !hasOwnForm(into.Type()):
		return m.mergeMap(into, v.AsMap(), atom.Map)
	case v.IsList() && atom.List != nil && atom.List.ElementRelationship == schema.Associative && into.Kind() == reflect.Slice:
		return m.mergeList(into, v, atom.List, of)
	case v.IsMap() || v.IsList() || atom.Scalar == nil:
		return false
	default:
		return m.set(into, v.Unstructured())
	}
}

// hasOwnForm says whether a type is something else in JSON than its fields.
func hasOwnForm(t reflect.Type) bool {
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

// mergeMap merges into a struct or a map. Nothing has to be said of empty maps in the
// configuration: they are not plain, as they may or may not show in the result.
func (m *merger) mergeMap(into reflect.Value, fields value.Map, of *schema.Map) bool {
	if fields.Empty() {
		return false
	}
	switch into.Kind() {
	case reflect.Struct:
		if inlinesPointer(into.Type()) {
			return false // to what is not copied
		}
		known := value.TypeReflectEntryOf(into.Type()).Fields()
		return fields.Iterate(func(name string, v value.Value) bool {
			field, isKnown := known[name]
			described, isDescribed := of.FindField(name)
			if !isKnown || !isDescribed {
				return false
			}
			place := field.GetFrom(into)
			return place.IsValid() && place.CanSet() && m.merge(place, v, described.Type)
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

// mergeList merges into a list whose elements have keys, or the values of a set. Elements
// that the list does not have yet come last.
func (m *merger) mergeList(into reflect.Value, v value.Value, of *schema.List, ref schema.TypeRef) bool {
	list := v.AsList()
	if len(of.Keys) == 0 && list.Length() == 1 {
		return m.addToSet(into, list.At(0))
	}
	places, ok := m.places(into, list, of)
	if !ok {
		return m.mergeWhole(into, v, ref)
	}
	copied := reflect.MakeSlice(into.Type(), into.Len(), into.Len()+list.Length())
	reflect.Copy(copied, into)
	for i, at := range places {
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

// places returns where elements belong in a list. It does not know about keys with defaults,
// nor about elements in another order than the list has.
func (m *merger) places(list reflect.Value, elements value.List, of *schema.List) (places []int, ok bool) {
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
		places, last = append(places, at), at
	}
	return places, len(places) > 0
}

// find returns the position of the one element with the same keys, or the length of the list
// if there is none. It does not know about keys with defaults.
func (m *merger) find(list reflect.Value, element value.Value, of *schema.List) (at int, ok bool) {
	if !element.IsMap() {
		return 0, false
	}
	entry := value.TypeReflectEntryOf(list.Type().Elem()).Fields()
	at = list.Len()
	for i := range list.Len() {
		same := true
		for _, key := range of.Keys {
			field, known := entry[key]
			wanted, given := element.AsMap().Get(key)
			if !known || !given || isZero(wanted) {
				return 0, false
			}
			equal, ok := equals(field.GetFrom(list.Index(i)), wanted)
			if !ok {
				return 0, false
			}
			same = same && equal
		}
		switch {
		case same && at != list.Len():
			return 0, false // twice
		case same:
			at = i
		}
	}
	// The keys of the first element must be complete, too. An empty key may be missing from the
	// JSON of the element.
	for _, key := range of.Keys {
		if wanted, given := element.AsMap().Get(key); !given || isZero(wanted) {
			return 0, false
		}
	}
	return at, true
}

func isZero(key value.Value) bool {
	return key.IsString() && key.AsString() == "" || key.IsInt() && key.AsInt() == 0 || key.IsFloat() || key.IsBool() || key.IsNull()
}

// equals compares a key. It does not know about absent ones and those that are not simple.
func equals(key reflect.Value, wanted value.Value) (equal, ok bool) {
	switch {
	case !key.IsValid() || key.IsZero():
		return false, false
	case key.Kind() == reflect.String:
		return wanted.IsString() && wanted.AsString() == key.String(), true
	case key.CanInt():
		return wanted.IsInt() && wanted.AsInt() == key.Int(), true
	default:
		return false, false
	}
}

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

// mergeWhole leaves the merge of a list to structured-merge-diff.
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

// plain says whether there are neither nulls in a value nor maps and lists that cannot be
// merged.
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

// set puts a value in a place, in the form that it has there.
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

// holderOf returns the type of a struct with a value of the given type, as values are
// converted from and to structs only.
func holderOf(t reflect.Type) reflect.Type {
	if known, ok := holders.Load(t); ok {
		return known.(reflect.Type)
	}
	holder := reflect.StructOf([]reflect.StructField{{Name: "Value", Type: t, Tag: `json:"value"`}})
	holders.Store(t, holder)
	return holder
}

var pointerInliners sync.Map // of bool by reflect.Type

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
