// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// GetTypeConverter implements mutating.TypeConverters with the schemas of the backend. It returns
// nil for a kind whose schema the backend does not have.
func (b *Base) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	once, _ := b.converters.LoadOrStore(kind, sync.OnceValue(func() managedfields.TypeConverter { return b.newConverter(kind) }))
	return once.(func() managedfields.TypeConverter)()
}

// newConverter returns the converter of a kind. It resolves only the schemas that the kind needs,
// because parsing those of all kinds takes most of a second.
func (b *Base) newConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	resolved, err := b.backend.ResolveSchema(kind)
	if err != nil {
		return nil
	}
	model := *resolved
	model.Extensions = maps.Clone(model.Extensions) // the definitions are shared
	model.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
	})
	converter, err := managedfields.NewTypeConverter(map[string]*spec.Schema{kind.Kind: &model}, false)
	if err != nil {
		return nil
	}
	return converter
}
