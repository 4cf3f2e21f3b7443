// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// emptyRemoved replaces nulls by empty objects and lists where the schema has an object or a list.
// structured-merge-diff leaves a null where it has removed everything inside. A conversion would
// drop the null, and the field manager would conclude that the object itself was removed, although
// its manager still applies it.
func emptyRemoved(value any, schema *structuralschema.Structural) any {
	if schema == nil {
		return value
	}
	switch value := value.(type) {
	case nil:
		switch {
		case schema.Nullable:
		case schema.Type == "object":
			return map[string]any{}
		case schema.Type == "array":
			return []any{}
		}
	case map[string]any:
		for name, entry := range value {
			if property, ok := schema.Properties[name]; ok {
				value[name] = emptyRemoved(entry, &property)
			} else if additional := schema.AdditionalProperties; additional != nil {
				value[name] = emptyRemoved(entry, additional.Structural)
			}
		}
	case []any:
		for i, item := range value {
			value[i] = emptyRemoved(item, schema.Items)
		}
	}
	return value
}
