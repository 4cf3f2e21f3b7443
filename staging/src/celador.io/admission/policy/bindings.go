// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"celador.io/admission/matching"
)

// bindings holds the bindings of one policy. Nil if the policy has none. Immutable.
type bindings struct {
	// fallbacks holds the bindings with BindingSpec.Fallback, and regular the others. Fallbacks
	// apply to a request only if no regular binding does.
	regular, fallbacks matching.NamespaceIndex[*Binding]
}

// onlyUnbound takes the place of the bindings of a Singleton, which applies without any. It holds
// nothing but the pseudo-binding unbound, so that a Singleton is evaluated like other policies.
var onlyUnbound = (*bindings)(nil).with(unbound)

func (b *bindings) len() int {
	if b == nil {
		return 0
	}
	return b.regular.Len() + b.fallbacks.Len()
}

// only returns the binding of a policy that has exactly one, and nil for other policies.
func (b *bindings) only() *Binding {
	if b.len() != 1 {
		return nil
	}
	return slices.Concat(b.regular.All(), b.fallbacks.All())[0][0]
}

// with returns a copy of the bindings to which added is added, in place of a binding with the same
// name if there is one.
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

// without returns a copy of the bindings without the named one, or nil if no other is left.
func (b *bindings) without(name string) *bindings {
	changed := &bindings{b.regular.Without(name), b.fallbacks.Without(name)}
	if changed.len() == 0 {
		return nil
	}
	return changed
}
