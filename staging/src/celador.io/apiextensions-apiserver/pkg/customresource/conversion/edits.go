// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/cel/rulepath"
)

// edits describe which places of an object the rules of a converter change. They form a tree like
// the object: one edits for each object, list and map on the way to such a place. The conversion
// copies only the values that have edits, and shares all others with the source, so that a few
// rules on a large object cost little.
type edits struct {
	fields map[string]*edits
	// entries are the edits of all items of a list, or of all values of a map.
	entries *edits
	// merged is set if a rule may merge an object into the value, in place, so that all of the
	// value must be copied.
	merged bool
	// discard is set if the value must not be copied, because the target version does not accept
	// its type.
	discard bool
	// blank returns the value that takes the place of a discarded list item or map value.
	blank func() any
}

// at returns the edits of the value at a path. It adds edits that are missing on the way.
func (e *edits) at(path rulepath.Path) *edits {
	for _, step := range path {
		var next *edits
		if step.Each {
			if e.entries == nil {
				e.entries = &edits{}
			}
			next = e.entries
		} else {
			if e.fields == nil {
				e.fields = map[string]*edits{}
			}
			if next = e.fields[step.Name]; next == nil {
				next = &edits{}
				e.fields[step.Name] = next
			}
		}
		e = next
	}
	return e
}

// copy returns a copy of a value, without the discarded values in it. The copy shares all values
// that have no edits.
func (e *edits) copy(value any) any {
	if e.merged {
		value = runtime.DeepCopyJSONValue(value)
	}
	if e.fields == nil && e.entries == nil {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		copied := maps.Clone(value)
		if e.entries != nil {
			for name, entry := range value {
				copied[name] = e.entries.copyEntry(entry)
			}
		}
		for name, field := range e.fields {
			existing, ok := copied[name]
			switch {
			case !ok:
			case field.discard:
				delete(copied, name)
			default:
				copied[name] = field.copy(existing)
			}
		}
		return copied
	case []any:
		if e.entries == nil {
			return value
		}
		copied := slices.Clone(value)
		for i, item := range copied {
			copied[i] = e.entries.copyEntry(item)
		}
		return copied
	default:
		return value
	}
}

func (e *edits) copyEntry(value any) any {
	if e.discard && value != nil {
		return e.blank()
	}
	return e.copy(value)
}
