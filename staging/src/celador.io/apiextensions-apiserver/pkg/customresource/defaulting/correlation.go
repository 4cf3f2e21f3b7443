// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"maps"
	"reflect"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/common"
)

// A correlation tells, for a value in an updated object, which value it had before the update, so
// that errors that the update does not cause can be left out. The zero value means that there is no
// old object.
type correlation struct {
	// nearest is the value itself, or the innermost value around it that has an old value.
	nearest *common.CorrelatedObject
	// exact is set if nearest is the value itself.
	exact bool
	// root is set if nearest is the object.
	root bool
}

// correlate returns the correlation of an object. old is nil on create.
func correlate(object, old map[string]any, schema *model.Structural) correlation {
	if old == nil {
		return correlation{}
	}
	return correlation{nearest: common.NewCorrelatedObject(object, old, schema), exact: true, root: true}
}

func (c correlation) key(name string) correlation {
	if !c.exact {
		return c
	}
	return c.below(c.nearest.Key(name))
}

func (c correlation) index(i int) correlation {
	if !c.exact {
		return c
	}
	return c.below(c.nearest.Index(i))
}

func (c correlation) below(next *common.CorrelatedObject) correlation {
	if next == nil {
		c.exact = false
		return c
	}
	return correlation{nearest: next, exact: true}
}

// failedBefore reports whether the rule also failed for the old object: its field was unset there,
// and it read the same values. Items have old values only in lists of type map; for other items, it
// reports whether their list is unchanged.
func (c correlation) failedBefore(r *rule) bool {
	if c.nearest == nil {
		return false
	}
	if !c.exact {
		return c.unchanged()
	}
	object, name := r.holder(c.nearest.OldValue)
	if object == nil || r.isSet(object, name) {
		return false
	}
	value, ok := c.nearest.Value.(map[string]any)
	old, okOld := c.nearest.OldValue.(map[string]any)
	if r.readsAll || !ok || !okOld {
		return c.unchanged()
	}
	for _, name := range r.reads {
		if !c.same(value, old, name) {
			return false
		}
	}
	return true
}

// unchanged reports whether everything that expressions can read of the value is the same as before
// the update.
func (c correlation) unchanged() bool {
	value, ok := c.nearest.Value.(map[string]any)
	old, okOld := c.nearest.OldValue.(map[string]any)
	if !c.root || !ok || !okOld {
		return c.nearest.CachedDeepEqual()
	}
	names := maps.Clone(value)
	maps.Copy(names, old)
	for name := range names {
		if !c.same(value, old, name) {
			return false
		}
	}
	return true
}

// same reports whether a field is equal before and after the update. Of metadata, expressions read
// only the names, which updates cannot change.
func (c correlation) same(value, old map[string]any, name string) bool {
	if c.root && name == "metadata" {
		return true
	}
	a, found := value[name]
	b, foundOld := old[name]
	return found == foundOld && reflect.DeepEqual(a, b)
}
