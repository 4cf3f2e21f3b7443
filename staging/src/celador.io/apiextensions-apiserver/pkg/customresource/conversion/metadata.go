// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"maps"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// guardMetadata gives the converted object the metadata that the object had before the conversion,
// apart from labels and annotations: a rule that sets the whole object could have changed it. It
// returns an error if the API would refuse the labels or annotations.
func (c *conversion) guardMetadata() *Error {
	fail := func(err error) *Error { return &Error{Reason: ReasonMetadata, Err: err} }
	original, _ := c.source["metadata"].(map[string]any)
	converted, _ := c.target["metadata"].(map[string]any)
	metadata := maps.Clone(original)
	if metadata == nil {
		metadata = map[string]any{}
	}
	for _, name := range []string{"labels", "annotations"} {
		value, ok := converted[name]
		if !ok || value == nil {
			delete(metadata, name)
			continue
		}
		entries, _, err := unstructured.NestedStringMap(c.target, "metadata", name)
		if err != nil {
			return fail(err)
		}
		if errs := validateEntries(name, entries); len(errs) > 0 {
			return fail(errs.ToAggregate())
		}
		if len(entries) == 0 {
			delete(metadata, name)
			continue
		}
		metadata[name] = value
	}
	if len(metadata) == 0 && original == nil {
		delete(c.target, "metadata")
		return nil
	}
	c.target["metadata"] = metadata
	return nil
}

// validateEntries returns the errors with which the API refuses labels or annotations. name is
// "labels" or "annotations".
func validateEntries(name string, entries map[string]string) field.ErrorList {
	path := field.NewPath("metadata", name)
	if name == "labels" {
		return metav1validation.ValidateLabels(entries, path)
	}
	return apivalidation.ValidateAnnotations(entries, path)
}
