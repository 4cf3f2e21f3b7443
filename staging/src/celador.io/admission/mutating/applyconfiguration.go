// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"celador.io/admission/expression"
)

// TypeConverters provides the schemas by which apply configurations are merged. Implementations are
// safe for concurrent use.
type TypeConverters interface {
	// GetTypeConverter returns the converter of a kind, or nil while its schema is unknown.
	GetTypeConverter(schema.GroupVersionKind) managedfields.TypeConverter
}

// configurationPatcher merges an apply configuration as server-side apply does.
type configurationPatcher struct{ expression.Compiled }

func (p configurationPatcher) patch(series *expression.Series, t target) (patched, error) {
	value, err := evaluate(p.Compiled, series)
	if err != nil {
		return patched{}, err
	}
	object, ok := value.(*dynamic.ObjectVal)
	if !ok {
		return patched{}, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", value.Type())
	}
	fields, err := fieldsOf(object)
	if err != nil {
		return patched{}, err
	}
	if err := t.grow(jsonSize(fields, MaxObjectBytes)); err != nil {
		return patched{}, err
	}
	configuration := &unstructured.Unstructured{Object: fields}
	configuration.SetGroupVersionKind(t.object().GetObjectKind().GroupVersionKind())
	named := func() []string {
		written := maps.Clone(fields)
		delete(written, "apiVersion")
		delete(written, "kind")
		return fieldPaths(written)
	}
	if merged := t.mergePlain(configuration); merged != nil {
		return patched{merged, named}, nil
	}
	configuration.Object = deepCopyContent(fields).(map[string]any)
	merged, err := patch.ApplyStructuredMergeDiff(t.converter, t.object(), configuration)
	if err != nil {
		return patched{}, fmt.Errorf("error applying patch: %w", err)
	}
	return patched{merged, named}, nil
}

// mergePlain merges a configuration with merge, which is faster than structured-merge-diff. It returns
// nil if the object is a custom resource, is not stable or does not fit its schema, and if merge does
// not support the configuration.
func (t target) mergePlain(configuration *unstructured.Unstructured) runtime.Object {
	if _, custom := t.object().(*unstructured.Unstructured); custom || !stable(t.object()) {
		return nil
	}
	typedConfiguration, err := t.converter.ObjectToTyped(configuration)
	if err != nil {
		return nil
	}
	if t.valid != t.object() {
		if _, err := t.converter.ObjectToTyped(t.object(), typed.AllowDuplicates); err != nil {
			return nil
		}
	}
	base := t.object()
	if t.defaulted != base {
		// Defaulting changes the merged object in place, also the parts that it shares with the base.
		base = base.DeepCopyObject()
	}
	merged, changed := merge(base, typedConfiguration)
	switch {
	case merged == nil:
		return nil
	case !changed && t.defaulted == base:
		return t.object()
	default:
		t.valid = merged
		return merged
	}
}

// fieldsOf returns the fields of an object that an expression constructed. It returns an error
// if the type name of a nested object does not match the path of its field.
func fieldsOf(object *dynamic.ObjectVal) (map[string]any, error) {
	if err := checkTypeNames(object); err != nil {
		return nil, err
	}
	fields, ok := object.Value().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("invalid return type: %T", object)
	}
	return fields, nil
}

// deepCopyContent deep-copies maps and lists that become part of a custom resource. Without the copy,
// an expression that copies values from params or from the request's object would make the new
// object share maps and lists with the informer's cache or with the request.
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

func checkTypeNames(object *dynamic.ObjectVal) error {
	if err := object.CheckTypeNamesMatchFieldPathNames(); err != nil {
		return fmt.Errorf("type mismatch: %w", err)
	}
	return nil
}

// SingleTypeConverter returns TypeConverters that use one converter for all kinds, such as the
// converter of k8s.io/client-go/applyconfigurations for built-in kinds.
func SingleTypeConverter(converter managedfields.TypeConverter) TypeConverters {
	return singleTypeConverter{converter}
}

type singleTypeConverter struct{ converter managedfields.TypeConverter }

// GetTypeConverter implements TypeConverters.
func (s singleTypeConverter) GetTypeConverter(schema.GroupVersionKind) managedfields.TypeConverter {
	return s.converter
}
