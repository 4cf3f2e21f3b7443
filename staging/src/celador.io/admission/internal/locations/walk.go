// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package locations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"celador.io/admission/cel/rulepath"
)

// Find calls visit for each value in the scope: list items in their order, map entries and fields
// sorted by name. It skips null. old is the old object, or nil if the old values are not needed or
// there is none. The location is valid until visit returns.
//
// Find calls charge with a number of steps before it takes them: one for each field that it reads,
// and one for each list item and map entry, items of the old list included. It returns the first
// error of charge or visit, and an error if a value on a path has another type than the path says,
// such as a string where the path names a field.
func (f *Finder) Find(object, old ref.Val, charge func(steps int) error, visit func(*Location) error) error {
	if f.root == nil {
		return nil
	}
	w := walk{strict: f.strict, charge: charge, visit: visit}
	return w.enter(f.root, object, old)
}

// walk is one call of Find. at is the location of the current value.
type walk struct {
	strict bool
	charge func(int) error
	visit  func(*Location) error
	at     Location
}

// enter visits a value and those below it.
func (w *walk) enter(n *node, value, old ref.Val) error {
	if isNull(value) {
		return nil
	}
	if err, failed := value.(*types.Err); failed {
		return fmt.Errorf("%s: %w", w.at.path.Describe(), err)
	}
	if n.found {
		w.at.Self, w.at.OldSelf, w.at.text = value, nil, nil
		if !isNull(old) && !types.IsError(old) {
			w.at.OldSelf = old
		}
		if err := w.visit(&w.at); err != nil {
			return err
		}
	}
	if len(n.fields) > 0 {
		if err := w.enterFields(n, value, old); err != nil {
			return err
		}
	}
	if n.each == nil {
		return nil
	}
	switch value := value.(type) {
	case traits.Lister:
		return w.enterItems(n, value, old)
	case traits.Mapper:
		return w.enterEntries(n, value, old)
	default:
		return w.unexpected("a list or map", value)
	}
}

func isNull(value ref.Val) bool { return value == nil || value == types.NullValue }

// unexpected returns the error for a value on a path that is not of the wanted form.
func (w *walk) unexpected(wanted string, value ref.Val) error {
	if !w.strict {
		return nil
	}
	return fmt.Errorf("%s is of type %s instead of %s", w.at.path.Describe(), value.Type().TypeName(), wanted)
}

// below visits the value at a segment below the current one.
func (w *walk) below(segment rulepath.Segment, n *node, value, old ref.Val) error {
	w.at.path = append(w.at.path, segment)
	err := w.enter(n, value, old)
	w.at.path = w.at.path[:len(w.at.path)-1]
	return err
}

func (w *walk) enterFields(n *node, value, old ref.Val) error {
	object, ok := value.(traits.Mapper)
	if !ok {
		return w.unexpected("an object", value)
	}
	if err := w.charge(len(n.fields)); err != nil {
		return err
	}
	for _, f := range n.fields {
		if err := w.enterEntry(f.node, object, old, f.name); err != nil {
			return err
		}
	}
	return nil
}

// enterEntry visits the value of a field or map entry, if there is one.
func (w *walk) enterEntry(n *node, object traits.Mapper, old ref.Val, name string) error {
	found, ok := object.Find(types.String(name))
	if !ok {
		return nil
	}
	return w.below(rulepath.Segment{Name: name}, n, found, entry(old, types.String(name)))
}

// entry returns the entry of an old object or map, or nil if there is none.
func entry(old, key ref.Val) ref.Val {
	if object, ok := old.(traits.Mapper); ok {
		if found, ok := object.Find(key); ok {
			return found
		}
	}
	return nil
}

func (w *walk) enterEntries(n *node, entries traits.Mapper, old ref.Val) error {
	size, _ := entries.Size().(types.Int)
	if err := w.charge(int(size)); err != nil {
		return err
	}
	keys := make([]string, 0, size)
	for it := entries.Iterator(); it.HasNext() == types.True; {
		if key, ok := it.Next().(types.String); ok {
			keys = append(keys, string(key))
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := w.enterEntry(n.each, entries, old, key); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) enterItems(n *node, items traits.Lister, old ref.Val) error {
	size, _ := items.Size().(types.Int)
	if err := w.charge(int(size)); err != nil {
		return err
	}
	before, err := w.oldItems(n, old)
	if err != nil {
		return err
	}
	for i := range size {
		item := items.Get(i)
		var oldItem ref.Val
		if len(before) > 0 {
			oldItem = before.take(keyOf(item, n.keys))
		}
		if err := w.below(rulepath.Segment{Item: true, Index: int(i)}, n.each, item, oldItem); err != nil {
			return err
		}
	}
	return nil
}

// oldItems are the items of an old list by their keys.
type oldItems map[string]*sameKeys

// sameKeys are old items with the same keys, of which there may be several: the API server does not
// validate that the keys of all lists are unique.
type sameKeys struct {
	items []ref.Val
	// taken is the number of calls of oldItems.take.
	taken int
}

// take returns the old item with a key. If several old items have the key, the n-th call returns
// the n-th of them, so that an update that leaves a list as it is compares each item with itself.
// Once there are no more, take returns the first again. It returns nil if no old item has the key.
func (o oldItems) take(key string) ref.Val {
	same := o[key]
	if same == nil {
		return nil
	}
	item := same.items[0]
	if same.taken < len(same.items) {
		item = same.items[same.taken]
	}
	same.taken++
	return item
}

// oldItems returns the items of an old list of type map by their keys. It returns nil for other
// lists, because no key tells which of their items are the same.
func (w *walk) oldItems(n *node, old ref.Val) (oldItems, error) {
	list, ok := old.(traits.Lister)
	if !ok || len(n.keys) == 0 {
		return nil, nil
	}
	size, _ := list.Size().(types.Int)
	if err := w.charge(int(size)); err != nil {
		return nil, err
	}
	found := make(oldItems, size)
	for i := range size {
		item := list.Get(i)
		key := keyOf(item, n.keys)
		if key == "" {
			continue
		}
		if found[key] == nil {
			found[key] = &sameKeys{}
		}
		found[key].items = append(found[key].items, item)
	}
	return found, nil
}

// keyOf returns a text that is the same for items with the same values of keys, and "" for an item
// that is no object. Two items that both lack a key count as equal in it.
func keyOf(item ref.Val, keys []string) string {
	object, ok := item.(traits.Mapper)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, key := range keys {
		switch value := entry(object, types.String(key)).(type) {
		case nil:
			b.WriteByte('-')
		case types.String:
			b.WriteString(strconv.Quote(string(value)))
		default:
			fmt.Fprint(&b, value.Value())
		}
		b.WriteByte(',')
	}
	return b.String()
}
