// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"fmt"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/admission/cel/rulepath"
)

// checkListMap returns a mismatch if items of a list-map lack keys, or have the same keys:
// server-side apply could not tell them apart. The items have the type of the schema's items.
func checkListMap(items []any, to *structuralschema.Structural) *mismatch {
	if to.XListType == nil || *to.XListType != "map" || to.Items == nil {
		return nil
	}
	seen := make(map[string]int, len(items))
	for i, item := range items {
		step := rulepath.Segment{Item: true, Index: i}
		var keys []string
		for _, name := range to.XListMapKeys {
			object, _ := item.(map[string]any)
			value := object[name]
			if value == nil {
				value = to.Items.Properties[name].Default.Object
			}
			if value == nil {
				m := &mismatch{reason: "it is unset, and is a key of the list (x-kubernetes-list-map-keys)"}
				return m.below(rulepath.Segment{Name: name}).below(step)
			}
			keys = append(keys, fmt.Sprintf("%s=%#v", name, value))
		}
		id := strings.Join(keys, ", ")
		if other, ok := seen[id]; ok {
			m := &mismatch{reason: fmt.Sprintf("the item has the same keys as item %d (%s), and the keys must be unique (x-kubernetes-list-map-keys)", other, id)}
			return m.below(step)
		}
		seen[id] = i
	}
	return nil
}
