// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package modelschema

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// A Document holds the models of an OpenAPI document by name.
type Document map[string]*spec.Schema

// Parse returns the models of an OpenAPI v3 document in JSON. It may panic if the document is
// malformed.
func Parse(text []byte) (Document, error) {
	// Most of a document describes paths, so only the schemas are decoded.
	var content struct {
		Components struct {
			Schemas Document `json:"schemas"`
		} `json:"components"`
	}
	err := json.Unmarshal(text, &content)
	return content.Components.Schemas, err
}

// Kinds returns the names of the models of the kinds of a group version, by kind.
func (d Document) Kinds(version schema.GroupVersion) map[string]string {
	kinds := map[string]string{}
	for name, model := range d {
		for _, kind := range KindsOf(model.Extensions) {
			if kind.GroupVersion() == version {
				kinds[kind.Kind] = name
			}
		}
	}
	return kinds
}

// Resolve returns the schema of a model as the function Resolve does.
func (d Document) Resolve(name string) (*spec.Schema, error) {
	return Resolve(func(name string) (*spec.Schema, bool) { model, ok := d[name]; return model, ok }, name)
}

// DropDescriptions drops the descriptions of a schema, which are most of its text.
func DropDescriptions(s *spec.Schema) {
	s.Description = ""
	for name, property := range s.Properties {
		DropDescriptions(&property)
		s.Properties[name] = property
	}
	if s.Items != nil && s.Items.Schema != nil {
		DropDescriptions(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		DropDescriptions(s.AdditionalProperties.Schema)
	}
}

// KindsOf returns the kinds of the objects that an OpenAPI model with these extensions describes.
// It reads x-kubernetes-group-version-kind, and skips malformed entries, as type converters do.
func KindsOf(extensions spec.Extensions) []schema.GroupVersionKind {
	listed, _ := extensions["x-kubernetes-group-version-kind"].([]any)
	var kinds []schema.GroupVersionKind
	for _, entry := range listed {
		described, _ := entry.(map[string]any)
		group, isGroup := described["group"].(string)
		version, isVersion := described["version"].(string)
		kind, isKind := described["kind"].(string)
		if isGroup && isVersion && isKind {
			kinds = append(kinds, schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
		}
	}
	return kinds
}
