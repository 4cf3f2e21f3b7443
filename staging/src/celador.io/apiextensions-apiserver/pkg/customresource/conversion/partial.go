// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// ConvertPartial converts a part of an object, such as the fields that a manager of server-side apply owns. It differs from Convert
// in that a rule that fails leaves its field unset, because what the rule reads may be missing. The caller has to know that the whole
// object converts: ConvertPartial cannot tell a missing value from a wrong one. Errors other than those of rules, and
// those of costs, are the same.
func (c *Converter) ConvertPartial(ctx context.Context, in *unstructured.Unstructured, toVersion string) (*unstructured.Unstructured, error) {
	return c.convert(ctx, in, toVersion, true)
}

// unset leaves the field of a rule unset, as the result null does. An item of a list, and the object itself, stay as they are.
func (c *conversion) unset(rule *plannedRule, at rulepath.Path) {
	path := at.Join(rule.field)
	if len(path) == 0 || path[len(path)-1].Item {
		return
	}
	// There is nothing to delete if the path does not lead to a value.
	_ = path.Delete(c.target)
}

// keepMetadata takes labels and annotations from the source.
func (c *conversion) keepMetadata() {
	if metadata, ok := c.source["metadata"]; ok {
		c.target["metadata"] = metadata
		return
	}
	delete(c.target, "metadata")
}
