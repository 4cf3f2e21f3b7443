// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/lazy"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/cel/values"
)

// An extent counts the elements and the bytes of text in values, to bound the work of code that
// walks them, such as comparisons. A part that occurs several times in a value counts each time,
// because such code walks it each time.
type extent struct {
	elements, text int
	// goParts is the number of measured lists, maps and structs that are Go data, such as parts of
	// the request. Each counts as one element unless goContent is set, which makes add measure
	// their content, too. Result does so only for values with many goParts.
	goParts   int
	goContent bool
	// maxElements and maxText are the numbers of elements and of bytes of text at which measuring
	// ends.
	maxElements, maxText int
}

// steps returns how many steps it takes to walk the measured values.
func (e *extent) steps() int { return e.elements + e.text/textPerStep }

func (e *extent) fits() bool { return e.elements <= e.maxElements && e.text <= e.maxText }

// add adds a value. It stops measuring and returns false when the extent exceeds maxElements or
// maxText.
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
	case *constructed.Object:
		return e.addObject(v)
	case *lazy.MapValue:
		// The variables of a policy are compared by identity, and have no JSON form.
	case traits.Lister:
		return e.addList(v)
	case traits.Mapper:
		return e.addMap(v)
	}
	return e.fits()
}

func (e *extent) addList(list traits.Lister) bool {
	if values.IsGoData(list) {
		return e.addGoData(list)
	}
	if elements, ok := values.LiteralElements(list); ok {
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
		if !e.addConverted(list.Get(types.Int(i))) {
			return false
		}
	}
	return e.fits()
}

func (e *extent) addMap(entries traits.Mapper) bool {
	if values.IsGoData(entries) {
		return e.addGoData(entries)
	}
	if literal, ok := values.LiteralEntries(entries); ok {
		for key, value := range literal {
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
		if !e.add(key) || found && !e.addConverted(value) {
			return false
		}
	}
	return e.fits()
}

func (e *extent) addObject(object *constructed.Object) bool {
	for name, field := range object.Fields() {
		e.text += len(name)
		if !e.addConverted(field) {
			return false
		}
	}
	return e.fits()
}

// addConverted adds a value inside another: a field of a constructed object, or an element of a
// list or a map that holds no CEL values itself, such as a concatenation. It counts a constructed
// object, also one in an optional, conversionsOfNested times, as often as the conversion of the
// outer value to a Go value converts the object.
func (e *extent) addConverted(v ref.Val) bool {
	times, held := 1, v
	for optional, ok := held.(*types.Optional); ok && optional.HasValue(); optional, ok = held.(*types.Optional) {
		held = optional.GetValue()
	}
	if _, nested := held.(*constructed.Object); nested {
		times = conversionsOfNested
	}
	for range times {
		if !e.add(v) {
			return false
		}
	}
	return e.fits()
}

// conversionsOfNested is the number of times that Kubernetes' conversion of a constructed object to
// a Go value converts an object in one of its fields, or in a list there that it iterates over: it
// calls Value to see whether the value is a list, again to see whether it is a map, and again for
// the result (convertField in k8s.io/apiserver/pkg/cel/mutation/dynamic). Each level of nested
// objects multiplies the time by it.
const conversionsOfNested = 3

// addGoData adds a list, a map or a struct that is Go data.
func (e *extent) addGoData(v ref.Val) bool {
	e.goParts++
	if !e.goContent {
		return e.fits()
	}
	if !values.IsTyped(v) {
		switch content := v.Value().(type) {
		case []any, map[string]any:
			e.elements-- // addGo counts it again
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

// addGo adds a part of an unstructured object without converting it to CEL values.
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

// sizeOf returns the size of a list, map or string, and 1 for other values.
func sizeOf(v ref.Val) int {
	if sized, ok := v.(traits.Sizer); ok {
		if n, ok := sized.Size().(types.Int); ok {
			return int(n)
		}
	}
	return 1
}
