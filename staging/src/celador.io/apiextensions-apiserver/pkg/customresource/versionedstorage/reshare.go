// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage

// Estimates of memory in bytes, for values on a 64-bit machine. They include what the allocator
// adds by rounding up.
const (
	mapBytes = 48
	// groupBytes is the memory of a group of eight entries of a map. Go allocates a group at once.
	groupBytes = 320
	// tableBytes is the memory of a table of groups, which a map has if it has more than one.
	tableBytes = 48
	listBytes  = 32
	itemBytes  = 20
	textBytes  = 32
	// numberBytes is the memory of a number in an interface.
	numberBytes = 8
)

// mapSize returns the memory of a map without that of its values.
func mapSize(entries int) int {
	switch {
	case entries == 0:
		return mapBytes
	case entries <= 8:
		return mapBytes + groupBytes
	}
	groups := 2
	// A map grows when seven eighths of its entries are in use.
	for entries > groups*7 {
		groups *= 2
	}
	return mapBytes + tableBytes + groups*groupBytes
}

// reshare replaces the parts of value that are equal to the part of original at the same place, so
// that a converted object takes little more memory than what its conversion has changed. It changes
// value, but not original. bytes estimates the memory that the result does not share.
func reshare(value, original any) (shared any, bytes int) {
	switch value := value.(type) {
	case map[string]any:
		return reshareMap(value, original)
	case []any:
		return reshareList(value, original)
	case string:
		// A conversion may have taken the text from another field of original, whose memory it then
		// shares. It counts nevertheless, because only the same place is compared.
		if value != original {
			return value, textBytes + len(value)*9/8
		}
	case int64, float64:
		if value != original {
			return value, numberBytes
		}
	}
	return value, 0
}

func reshareMap(value map[string]any, original any) (any, int) {
	before, ok := original.(map[string]any)
	same := ok && value != nil && len(before) == len(value)
	bytes := mapSize(len(value))
	for key, field := range value {
		old, found := before[key]
		shared, size := reshare(field, old)
		bytes += size
		if isContainer(field) {
			value[key] = shared
		}
		same = same && found && size == 0 && equalLeaf(shared, old)
	}
	if same {
		return before, 0
	}
	return value, bytes
}

func reshareList(value []any, original any) (any, int) {
	before, ok := original.([]any)
	same := ok && value != nil && before != nil && len(before) == len(value)
	bytes := listBytes + itemBytes*len(value)
	for i, item := range value {
		var old any
		if i < len(before) {
			old = before[i]
		}
		shared, size := reshare(item, old)
		bytes += size
		value[i] = shared
		same = same && size == 0 && equalLeaf(shared, old)
	}
	if same {
		return before, 0
	}
	return value, bytes
}

func isContainer(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// equalLeaf reports whether a value is equal to the one at the same place in original, so that the
// list or map around it can be replaced, too. shared is what reshare has returned for the value,
// with 0 bytes: a list or map is then already the one in original. Other values are compared.
func equalLeaf(shared, original any) bool {
	switch shared := shared.(type) {
	case map[string]any:
		_, ok := original.(map[string]any)
		return ok
	case []any:
		before, ok := original.([]any)
		return ok && (shared == nil) == (before == nil) && len(shared) == len(before)
	default:
		switch original.(type) {
		case map[string]any, []any:
			return false
		}
		return shared == original
	}
}
