// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"celador.io/admission/matching"
)

// bindings holds the bindings of one policy. Immutable. Nil is empty.
type bindings struct {
	// regular holds the bindings without Fallback. fallbacks apply to a request only if no regular
	// binding does.
	regular, fallbacks matching.NamespaceIndex[*Binding]
}

// onlyUnbound are the bindings of Singletons.
var onlyUnbound = (*bindings)(nil).with(unbound)

func (b *bindings) len() int {
	if b == nil {
		return 0
	}
	return b.regular.Len() + b.fallbacks.Len()
}

// only returns the single binding, or nil if there are several.
func (b *bindings) only() *Binding {
	if b.len() != 1 {
		return nil
	}
	return slices.Concat(b.regular.All(), b.fallbacks.All())[0][0]
}

// with returns the bindings with one added or replaced.
func (b *bindings) with(added *Binding) *bindings {
	changed := &bindings{}
	if b != nil {
		*changed = *b
	}
	if added.spec.Fallback {
		changed.regular = changed.regular.Without(added.name)
		changed.fallbacks = changed.fallbacks.With(added)
	} else {
		changed.regular = changed.regular.With(added)
		changed.fallbacks = changed.fallbacks.Without(added.name)
	}
	return changed
}

// without returns the bindings without the named one.
func (b *bindings) without(name string) *bindings {
	changed := &bindings{b.regular.Without(name), b.fallbacks.Without(name)}
	if changed.len() == 0 {
		return nil
	}
	return changed
}
