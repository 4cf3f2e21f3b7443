// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground

import (
	"encoding/json"
	"fmt"

	"celador.io/offline/manifest"
)

// maxEntries is the maximum number of entries of a map or list in a document. Kubernetes needs time
// that grows with the square of it to track the managers of fields, and cannot be interrupted.
const maxEntries = 10_000

// wideField returns the path of a map or list in a document with more than maxEntries entries, and
// whether there is one.
func wideField(document *manifest.Document) (path string, found bool) {
	var value any
	if err := json.Unmarshal(document.Raw(), &value); err != nil {
		return "", false // others report it
	}
	return wideValue("", value)
}

// wideValue is wideField for the value at a path.
func wideValue(path string, value any) (string, bool) {
	switch value := value.(type) {
	case map[string]any:
		if len(value) > maxEntries {
			return path, true
		}
		for key, field := range value {
			if wide, found := wideValue(manifest.Member(path, key), field); found {
				return wide, true
			}
		}
	case []any:
		if len(value) > maxEntries {
			return path, true
		}
		for i, item := range value {
			if wide, found := wideValue(fmt.Sprintf("%s[%d]", path, i), item); found {
				return wide, true
			}
		}
	}
	return "", false
}
