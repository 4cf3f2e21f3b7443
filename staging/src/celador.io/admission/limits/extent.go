// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/lazy"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"celador.io/admission/values"
)

// extent is what a value consists of. Values that occur more than once count each time.
type extent struct {
	elements, text int
	// outside counts lists, maps and structs from outside of expressions, such as parts of the
	// request. Each counts as one element unless all is set.
	outside int
	all     bool
	// most are the elements, and mostText the text, at which measuring ends.
	most, mostText int
}

// steps is how long it takes to go through the value.
func (e *extent) steps() int { return e.elements + e.text/textPerStep }

func (e *extent) fits() bool { return e.elements <= e.most && e.text <= e.mostText }

// add adds a value and returns whether everything fits so far.
func (e *extent) add(v ref.Val) bool {
	e.elements++
	switch v := v.(type) {
	case types.String:
		e.text += len(v)
	case types.Bytes:
		e.text += len(v)
	case types.Bool, types.Int, types.Uint, types.Double, types.Null, types.Duration, types.Timestamp:
	case *types.Optional:
		return !v.HasValue() || e.add(v.GetValue())
	case *celmutation.JSONPatchVal:
		e.text += len(v.Op) + len(v.Path) + len(v.From)
		return v.Val == nil || e.add(v.Val)
	case *dynamic.ObjectVal:
		return e.addObject(v)
	case *lazy.MapValue:
		// The variables of a policy are compared by identity, and convert to nothing.
	case traits.Lister:
		return e.addList(v)
	case traits.Mapper:
		return e.addMap(v)
	}
	return e.fits()
}

func (e *extent) addList(list traits.Lister) bool {
	if isOutside(list) {
		return e.addOutside(list)
	}
	if elements, ok := elementsOf(list); ok {
		for _, element := range elements {
			if !e.add(element) {
				return false
			}
		}
		return e.fits()
	}
	return e.addElements(list)
}

func (e *extent) addElements(list traits.Lister) bool {
	for i := range sizeOf(list) {
		if !e.add(list.Get(types.Int(i))) {
			return false
		}
	}
	return e.fits()
}

func (e *extent) addMap(entries traits.Mapper) bool {
	if isOutside(entries) {
		return e.addOutside(entries)
	}
	if reflect.TypeOf(entries) == mapType {
		for key, value := range entries.Value().(map[ref.Val]ref.Val) {
			if !e.add(key) || !e.add(value) {
				return false
			}
		}
		return e.fits()
	}
	return e.addEntries(entries)
}

func (e *extent) addEntries(entries traits.Mapper) bool {
	for it := entries.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		value, found := entries.Find(key)
		if !e.add(key) || found && !e.add(value) {
			return false
		}
	}
	return e.fits()
}

// addObject counts an object in an object three times: that is how often it is converted.
func (e *extent) addObject(object *dynamic.ObjectVal) bool {
	for name, field := range fieldsOf(object) {
		e.text += len(name)
		times := 1
		if _, nested := field.(*dynamic.ObjectVal); nested {
			times = conversionsOfNested
		}
		for range times {
			if !e.add(field) {
				return false
			}
		}
	}
	return e.fits()
}

// conversionsOfNested is how often dynamic.ObjectVal converts an object in one of its fields.
const conversionsOfNested = 3

// addOutside adds a list, a map or a struct from outside of expressions.
func (e *extent) addOutside(v ref.Val) bool {
	e.outside++
	if !e.all {
		return e.fits()
	}
	if !values.IsGo(v) {
		switch content := v.Value().(type) {
		case []any, map[string]any:
			e.elements-- // which was counted as a value
			return e.addGo(content)
		}
	}
	switch v := v.(type) {
	case traits.Lister:
		return e.addElements(v)
	case traits.Mapper:
		return e.addEntries(v)
	}
	return e.fits()
}

// addGo adds a part of an unstructured object without making values of it.
func (e *extent) addGo(content any) bool {
	e.elements++
	switch content := content.(type) {
	case string:
		e.text += len(content)
	case []any:
		for _, element := range content {
			if !e.addGo(element) {
				return false
			}
		}
	case map[string]any:
		for key, value := range content {
			e.elements++
			e.text += len(key)
			if !e.addGo(value) {
				return false
			}
		}
	}
	return e.fits()
}

var (
	listType = reflect.TypeOf(types.NewRefValList(types.DefaultTypeAdapter, nil))
	mapType  = reflect.TypeOf(types.NewRefValMap(types.DefaultTypeAdapter, nil))
)

// elementsOf returns the elements of a list literal and of what cel-go collects.
func elementsOf(list ref.Val) ([]ref.Val, bool) {
	if reflect.TypeOf(list) != listType {
		// Value copies the list, if it is a concatenation.
		return nil, false
	}
	elements, ok := list.Value().([]ref.Val)
	return elements, ok
}

// isOutside reports whether a list or a map shows data of Go instead of values of CEL, in which nothing occurs
// more than once.
func isOutside(v ref.Val) bool {
	switch reflect.TypeOf(v) {
	case listType:
		_, ok := v.Value().([]ref.Val)
		return !ok
	case mapType:
		_, ok := v.Value().(map[ref.Val]ref.Val)
		return !ok
	default:
		return values.ShowsGo(v)
	}
}

func sizeOf(v ref.Val) int {
	if sized, ok := v.(traits.Sizer); ok {
		if n, ok := sized.Size().(types.Int); ok {
			return int(n)
		}
	}
	return 1
}
