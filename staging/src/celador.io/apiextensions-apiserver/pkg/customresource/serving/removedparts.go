// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// emptyRemoved makes the objects and lists empty that structured-merge-diff has set to null because
// it has removed everything in them. Otherwise a conversion would drop these nulls, as it drops all
// that the schema does not allow, and the field manager would take the objects themselves for
// removed, although their manager still applies them.
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
