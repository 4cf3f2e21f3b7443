// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// pruned returns a value without some of its entries and items, as field managers remove them.
func pruned(r *rand.Rand, value any) any {
	switch value := value.(type) {
	case map[string]any:
		rest := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if r.IntN(4) > 0 {
				rest[name] = pruned(r, value[name])
			}
		}
		return rest
	case []any:
		var rest []any
		for _, item := range value {
			if r.IntN(4) > 0 {
				rest = append(rest, pruned(r, item))
			}
		}
		return rest
	default:
		return value
	}
}

// FuzzPartialObjects converts parts of objects, which no rule must be able to refuse.
func FuzzPartialObjects(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, directory := range converted {
			d := load(t, directory)
			c := d.converter()
			g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), t: t}
			for _, version := range d.crd.Spec.Versions {
				object := g.object(d, version.Name)
				for _, field := range []string{"spec", "status"} {
					if value, ok := object.Object[field]; ok {
						object.Object[field] = pruned(g.Rand, value)
					}
				}
				if g.IntN(4) == 0 {
					delete(object.Object, "spec")
				}
				if g.IntN(4) == 0 {
					object.SetAnnotations(nil)
				}
				for _, other := range d.others(version.Name) {
					if _, err := c.ConvertPartial(t.Context(), object, nil, other); err != nil {
						t.Errorf("%s: %v\n%s", directory, err, dump(object))
					}
				}
			}
		}
	})
}
