// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulefunctions

import (
	"maps"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// copyOf returns a copy of the entries of a map. If v is not a map, or a value in it is an error or
// an unknown, copyOf returns an error or an unknown as the second result, with which the function
// of the caller ends.
func copyOf(v ref.Val) (map[ref.Val]ref.Val, ref.Val) {
	m, ok := v.(traits.Mapper)
	if !ok {
		return nil, types.MaybeNoSuchOverloadErr(v)
	}
	entries := map[ref.Val]ref.Val{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		value, found := m.Find(key)
		if !found {
			continue
		}
		if types.IsUnknownOrError(value) {
			return nil, value
		}
		entries[key] = value
	}
	return entries, nil
}

func mapOf(entries map[ref.Val]ref.Val) ref.Val {
	return types.NewRefValMap(types.DefaultTypeAdapter, entries)
}

func merge(left, right ref.Val) ref.Val {
	entries, failed := copyOf(left)
	if failed != nil {
		return failed
	}
	others, failed := copyOf(right)
	if failed != nil {
		return failed
	}
	maps.Copy(entries, others)
	return mapOf(entries)
}

func set(args ...ref.Val) ref.Val {
	entries, failed := copyOf(args[0])
	if failed != nil {
		return failed
	}
	if !isKey(args[1]) {
		return unsupportedKey(args[1])
	}
	entries[args[1]] = args[2]
	return mapOf(entries)
}

func remove(v, key ref.Val) ref.Val {
	entries, failed := copyOf(v)
	if failed != nil {
		return failed
	}
	if !isKey(key) {
		return unsupportedKey(key)
	}
	delete(entries, key)
	return mapOf(entries)
}

func removeAll(v, list ref.Val) ref.Val {
	keys, ok := list.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(list)
	}
	entries, failed := copyOf(v)
	if failed != nil {
		return failed
	}
	for it := keys.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		if !isKey(key) {
			return unsupportedKey(key)
		}
		delete(entries, key)
	}
	return mapOf(entries)
}

// isKey reports whether a value can be the key of a map. Values of other types may not be
// comparable, as the keys of a Go map must be.
func isKey(v ref.Val) bool {
	switch v.(type) {
	case types.String, types.Int, types.Uint, types.Bool:
		return true
	default:
		return false
	}
}

func unsupportedKey(v ref.Val) ref.Val {
	return types.NewErr("unsupported key type: %s", v.Type().TypeName())
}
