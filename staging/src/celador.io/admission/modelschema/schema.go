// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package modelschema resolves OpenAPI models, such as io.k8s.api.core.v1.Pod, to schemas that keep
// the name of each model in them. By these names, scopes of validations find the values of a type
// in objects, such as all containers.
package modelschema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// nameExtension holds the name of the model from which a part of a schema was resolved.
const nameExtension = "x-kubernetes-scope-type"

// refPrefix is the beginning of references in OpenAPI documents, before the name of the model.
const refPrefix = "#/components/schemas/"

// Models returns a model by its name.
type Models func(name string) (*spec.Schema, bool)

// Resolve returns the schema of a model. References in it are replaced by the models to which they
// refer, except that a model inside itself becomes an object without fields, as in
// k8s.io/apiserver/pkg/cel/openapi/resolver. NameOf tells which model a part of the schema was.
// Resolve does not change the models, and the schema shares memory with them.
func Resolve(models Models, name string) (*spec.Schema, error) {
	r := &refResolver{models: models}
	resolved, err := r.model(name)
	if err != nil {
		return nil, err
	}
	return &resolved, nil
}

// NameOf returns the name of the model that a part of a resolved schema is, or "".
func NameOf(s *spec.Schema) string {
	name, _ := s.Extensions[nameExtension].(string)
	return name
}

// refResolver replaces references. open holds the names of the models around the current one.
type refResolver struct {
	models Models
	open   []string
}

func (r *refResolver) model(name string) (spec.Schema, error) {
	var resolved spec.Schema
	if slices.Contains(r.open, name) {
		resolved.Type = spec.StringOrArray{"object"}
	} else {
		model, ok := r.models(name)
		if !ok {
			return resolved, fmt.Errorf("the document has no model %q: %w", name, resolver.ErrSchemaNotFound)
		}
		r.open = append(r.open, name)
		var err error
		if resolved, _, err = r.inside(model); err != nil {
			return resolved, err
		}
		r.open = r.open[:len(r.open)-1]
	}
	extensions := make(spec.Extensions, len(resolved.Extensions)+1)
	maps.Copy(extensions, resolved.Extensions)
	extensions[nameExtension] = name
	resolved.Extensions = extensions
	return resolved, nil
}

// inside returns s with its references replaced, and whether it had any. The result shares the
// parts without references with s. Most parts of a document have none, and copies of them would
// take memory.
func (r *refResolver) inside(s *spec.Schema) (resolved spec.Schema, changed bool, err error) {
	if name := refOf(s); name != "" {
		resolved, err = r.model(name)
		return resolved, true, err
	}
	resolved = *s
	copied := false
	for name, property := range s.Properties {
		below, differs, err := r.inside(&property)
		if err != nil {
			return resolved, false, err
		}
		if differs && !copied {
			resolved.Properties, copied = maps.Clone(s.Properties), true
		}
		if differs {
			resolved.Properties[name] = below
		}
	}
	changed = copied
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		values, differs, err := r.inside(s.AdditionalProperties.Schema)
		if err != nil {
			return resolved, false, err
		}
		if differs {
			resolved.AdditionalProperties, changed = &spec.SchemaOrBool{Allows: s.AdditionalProperties.Allows, Schema: &values}, true
		}
	}
	if s.Items != nil && s.Items.Schema != nil {
		items, differs, err := r.inside(s.Items.Schema)
		if err != nil {
			return resolved, false, err
		}
		if differs {
			resolved.Items, changed = &spec.SchemaOrArray{Schema: &items}, true
		}
	}
	return resolved, changed, nil
}

// refOf returns the name of the model to which a schema refers, or "". It also looks into allOf,
// which wraps a reference that has a description or a default.
func refOf(s *spec.Schema) string {
	if s.Ref.GetURL() != nil {
		return strings.TrimPrefix(s.Ref.String(), refPrefix)
	}
	for i := range s.AllOf {
		if name := refOf(&s.AllOf[i]); name != "" {
			return name
		}
	}
	return ""
}

// A Schema is one state of the schema of a kind. It is immutable and safe for concurrent use.
type Schema struct {
	number  uint64
	resolve func() (*spec.Schema, error)
}

var lastNumber atomic.Uint64

// New returns a schema that resolve resolves. resolve must be safe for concurrent use.
func New(resolve func() (*spec.Schema, error)) *Schema {
	return &Schema{number: lastNumber.Add(1), resolve: resolve}
}

// Number returns a number that no other Schema of the process has. Callers keep it with what they
// have derived from the schema, and can later tell whether that is outdated without keeping the
// schema in memory.
func (s *Schema) Number() uint64 { return s.number }

// Resolve returns the schema, with the names of its models. It must not be changed.
func (s *Schema) Resolve() (*spec.Schema, error) { return s.resolve() }
