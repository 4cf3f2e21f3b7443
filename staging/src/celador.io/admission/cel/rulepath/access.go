// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulepath

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Get returns the value at the path in an unstructured value. It returns false if there is none, or
// if an object, map or list on the way is missing or null. It returns an error if the path leads
// through a scalar, or enters a list without an index. The path must not contain [*].
func (p Path) Get(value any) (_ any, found bool, err error) {
	for i := range p {
		value, found, err = enter(p, i, value)
		if !found || err != nil {
			return nil, false, err
		}
	}
	return value, true, nil
}

// Set sets the value at the path in an unstructured object. Objects that are missing or null on the
// way are created. A missing list item is an error, because nothing says what the items before it
// are. Set also returns the errors of Get, and an error for the empty path, which stands for root
// itself. If it returns an error, root is unchanged.
func (p Path) Set(root map[string]any, value any) error {
	if len(p) == 0 {
		return fmt.Errorf("the object itself cannot be set")
	}
	var at any = root
	for i := range p {
		next, found, err := enter(p, i, at)
		if err != nil {
			return err
		}
		rest := p[i+1:]
		if next != nil && len(rest) > 0 {
			at = next
			continue
		}
		if !found && p[i].Item || slices.ContainsFunc(rest, func(s Segment) bool { return s.Item }) {
			return fmt.Errorf("%s does not exist", p[:i+1])
		}
		switch parent := at.(type) {
		case map[string]any:
			parent[p[i].Name] = rest.wrap(value)
		case []any:
			parent[p[i].Index] = rest.wrap(value)
		}
		return nil
	}
	return nil
}

// wrap returns new objects, one in another as the path says, with the value at the end of the path.
func (p Path) wrap(value any) any {
	for _, segment := range slices.Backward(p) {
		value = map[string]any{segment.Name: value}
	}
	return value
}

// Delete removes the object field or map entry at the path in an unstructured value. It does
// nothing if there is none. It returns the errors of Get, and an error if the path is empty or ends
// at a list item: removing an item would move those after it.
func (p Path) Delete(root any) error {
	if len(p) == 0 {
		return fmt.Errorf("the object itself cannot be removed")
	}
	last := len(p) - 1
	if p[last].Item {
		return fmt.Errorf("the list item %s cannot be removed: return the whole list without it", p)
	}
	parent, _, err := p[:last].Get(root)
	if err != nil {
		return err
	}
	_, found, err := enter(p, last, parent)
	if found {
		delete(parent.(map[string]any), p[last].Name)
	}
	return err
}

// enter returns the entry of parent that segment i of the path leads to. Null has no entries.
func enter(p Path, i int, parent any) (_ any, found bool, _ error) {
	segment := p[i]
	switch parent := parent.(type) {
	case nil:
		return nil, false, nil
	case map[string]any:
		if !segment.Item && !segment.Each {
			value, found := parent[segment.Name]
			return value, found, nil
		}
	case []any:
		if segment.Item {
			if segment.Index >= len(parent) {
				return nil, false, nil
			}
			return parent[segment.Index], true, nil
		}
	}
	return nil, false, p.notEntered(i, parent)
}

// notEntered returns the error for a path that leads to segment i, but cannot be followed there:
// parent, the value before the segment, is not an object if the segment is a field, not a list if
// it is a list item, or neither a list nor a map if it is [*].
func (p Path) notEntered(i int, parent any) error {
	wanted := "an object"
	if p[i].Item {
		wanted = "a list"
	} else if p[i].Each {
		wanted = "a list or map"
	}
	return fmt.Errorf("%s is %s instead of %s", p[:i].Describe(), kindOf(parent), wanted)
}

func kindOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// A Location is a value that a scope leads to in an object.
type Location struct {
	// Path leads to the value. It has the indices and keys of the entries that [*] stands for.
	Path Path
	// Value is the value in the object, not a copy. It is not null.
	Value any
}

// ErrTooManyLocations is the error of Locations if a path, such as the scope of a rule, leads to
// more values than the caller allows.
var ErrTooManyLocations = errors.New("the scope leads to too many values")

// Locations returns the values that a scope leads to in an unstructured value: list items in order,
// map entries sorted by key. Missing values and nulls are left out. Locations returns an error if
// the scope leads through a scalar, or if it has [*] where the value is neither a list nor a map,
// and ErrTooManyLocations if there are more values than limit.
func (p Path) Locations(root any, limit int) ([]Location, error) {
	if !p.HasEach() {
		// Without [*], there is one value at most, and the path needs no copy.
		value, _, err := p.Get(root)
		if value == nil || err != nil {
			return nil, err
		}
		if limit < 1 {
			return nil, ErrTooManyLocations
		}
		return []Location{{Path: p, Value: value}}, nil
	}
	m := matcher{scope: p, limit: limit}
	if err := m.match(0, root, make(Path, 0, len(p))); err != nil {
		return nil, err
	}
	return m.matches, nil
}

type matcher struct {
	scope   Path
	limit   int
	matches []Location
}

// match adds to m.matches the locations to which the segments from index i on lead from value. at
// is the path of value, with a capacity for these segments, so that appending one does not copy the
// path.
func (m *matcher) match(i int, value any, at Path) error {
	if value == nil {
		return nil
	}
	if i == len(m.scope) {
		if len(m.matches) >= m.limit {
			return ErrTooManyLocations
		}
		m.matches = append(m.matches, Location{Path: slices.Clone(at), Value: value})
		return nil
	}
	segment := m.scope[i]
	if !segment.Each {
		next, found, err := enter(append(at, segment), i, value)
		if !found || err != nil {
			return err
		}
		return m.match(i+1, next, append(at, segment))
	}
	switch entries := value.(type) {
	case []any:
		for index, item := range entries {
			if err := m.match(i+1, item, append(at, Segment{Item: true, Index: index})); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if err := m.match(i+1, entries[key], append(at, Segment{Name: key})); err != nil {
				return err
			}
		}
	default:
		return append(at, segment).notEntered(i, value)
	}
	return nil
}
