// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/structuredmerge"
)

// TypeConverters provides the schemas by which apply configurations are merged. Implementations are
// safe for concurrent use.
type TypeConverters interface {
	// GetTypeConverter returns the converter of a kind, or nil while its schema is unknown.
	GetTypeConverter(schema.GroupVersionKind) managedfields.TypeConverter
}

// configurationPatcher merges an apply configuration as server-side apply does.
type configurationPatcher struct{ *expression.Program }

func (p configurationPatcher) patch(series *expression.Series, t patchable) (patched, error) {
	value, err := p.Evaluate(series)
	if err != nil {
		return patched{}, err
	}
	object, ok := value.(*constructed.Object)
	if !ok {
		return patched{}, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", value.Type())
	}
	named := func() []string {
		fields, err := fieldsOf(object)
		if err != nil {
			return nil // cannot happen: the configuration was merged
		}
		delete(fields, "apiVersion")
		delete(fields, "kind")
		return fieldPaths("", fields)
	}
	merged, err := t.mergeFast(object)
	if merged == nil && err == nil {
		merged, err = t.mergeSlowly(object)
	}
	return patched{merged, named}, err
}

// mergeFast merges a configuration with package structuredmerge. It returns nil if that does not
// support the object or the configuration.
func (t patchable) mergeFast(configuration *constructed.Object) (runtime.Object, error) {
	base := t.object()
	shape := t.shapeOf(base)
	if shape == nil {
		return nil, nil
	}
	if t.own != base {
		// The merged object shares parts with the base, and defaulting changes it in place. So a
		// base that no mutation of this request has produced is copied first.
		base = base.DeepCopyObject()
	}
	merged := structuredmerge.Merge(base, shape, configuration, MaxObjectBytes)
	if merged == nil {
		return nil, nil
	}
	if err := t.grow(merged.Bytes); err != nil {
		return nil, err
	}
	if !merged.Changed && t.own == base {
		return t.object(), nil
	}
	t.valid = merged.Object
	return merged.Object, nil
}

// shapeOf returns the structuredmerge.Shape for merging configurations into an object, or nil if
// structuredmerge does not support the object. It computes the Shape once for consecutive mutations
// of an object.
func (t patchable) shapeOf(object runtime.Object) *structuredmerge.Shape {
	if t.valid != object || t.validFor != t.converter {
		t.valid, t.validFor, t.shape = object, t.converter, t.shapes.Of(object, t.converter)
	}
	return t.shape
}

// mergeSlowly merges a configuration with structured-merge-diff.
func (t patchable) mergeSlowly(object *constructed.Object) (runtime.Object, error) {
	fields, err := fieldsOf(object)
	if err != nil {
		return nil, err
	}
	if err := t.grow(jsonSize(fields, MaxObjectBytes)); err != nil {
		return nil, err
	}
	configuration := &unstructured.Unstructured{Object: deepCopyContent(fields).(map[string]any)}
	configuration.SetGroupVersionKind(t.object().GetObjectKind().GroupVersionKind())
	base := t.object()
	if _, custom := base.(*unstructured.Unstructured); custom && t.own != base {
		// The merged object shares atomic lists and maps with the base, and is defaulted in place.
		base = base.DeepCopyObject()
	}
	merged, err := patch.ApplyStructuredMergeDiff(t.converter, base, configuration)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: %w", err)
	}
	return merged, nil
}

// fieldsOf returns the fields of an object that an expression constructed. It returns an error
// if the type name of a nested object does not match the path of its field.
func fieldsOf(object *constructed.Object) (map[string]any, error) {
	if err := checkTypeNames(object); err != nil {
		return nil, err
	}
	fields, ok := object.Value().(map[string]any)
	if !ok {
		return nil, errors.New("invalid return type: *dynamic.ObjectVal") // the name of Kubernetes' Go type
	}
	return fields, nil
}

// deepCopyContent deep-copies maps and lists that become part of a custom resource. Without the
// copy, an expression that copies values from params or from the request's object would make the
// new object share maps and lists with the informer's cache or with the request.
func deepCopyContent(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		copied := make(map[string]any, len(v))
		for name, field := range v {
			copied[name] = deepCopyContent(field)
		}
		return copied
	case []any:
		if v == nil {
			return v
		}
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = deepCopyContent(v[i])
		}
		return copied
	default:
		return v
	}
}

func checkTypeNames(object *constructed.Object) error {
	if err := object.CheckTypeNames(); err != nil {
		return fmt.Errorf("type mismatch: %w", err)
	}
	return nil
}

// SingleTypeConverter uses one converter for all kinds, such as the converter of
// k8s.io/client-go/applyconfigurations for built-in kinds.
type SingleTypeConverter struct{ managedfields.TypeConverter }

// GetTypeConverter implements TypeConverters.
func (s SingleTypeConverter) GetTypeConverter(schema.GroupVersionKind) managedfields.TypeConverter {
	return s.TypeConverter
}
