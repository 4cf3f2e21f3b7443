// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"fmt"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

var (
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	replicaSet = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}
	pod        = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secret     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	widget     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
)

// schemas implements resolver.SchemaResolver.
type schemas map[schema.GroupVersionKind]*spec.Schema

func (s schemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	found, ok := s[kind]
	if !ok {
		return nil, fmt.Errorf("cannot resolve %v: %w", kind, resolver.ErrSchemaNotFound)
	}
	return found, nil
}

// with returns a copy with one more schema.
func (s schemas) with(kind schema.GroupVersionKind, described *spec.Schema) schemas {
	more := schemas{kind: described}
	for k, v := range s {
		if k != kind {
			more[k] = v
		}
	}
	return more
}

// builtIn holds schemas of built-in types as in Kubernetes' OpenAPI documents.
var builtIn = schemas{
	deployment: schemaOf(appsv1.Deployment{}),
	replicaSet: schemaOf(appsv1.ReplicaSet{}),
	pod:        schemaOf(corev1.Pod{}),
	configMap:  schemaOf(corev1.ConfigMap{}),
	secret:     schemaOf(corev1.Secret{}),
}

// mapperFor returns a mapper of the given kinds.
func mapperFor(kinds ...schema.GroupVersionKind) *meta.DefaultRESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range kinds {
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	return mapper
}

func schemaOf(object any) *spec.Schema {
	s := describe(reflect.TypeOf(object), nil)
	return &s
}

func describe(t reflect.Type, within []reflect.Type) spec.Schema {
	switch t {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return *spec.DateTimeProperty()
	case reflect.TypeFor[intstr.IntOrString]():
		return spec.Schema{SchemaProps: spec.SchemaProps{Format: "int-or-string", OneOf: []spec.Schema{*spec.Int32Property(), *spec.StringProperty()}}}
	case reflect.TypeFor[resource.Quantity]():
		return spec.Schema{SchemaProps: spec.SchemaProps{OneOf: []spec.Schema{*spec.StringProperty(), *spec.Float64Property()}}}
	case reflect.TypeFor[[]byte]():
		return *spec.StrFmtProperty("byte")
	case reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[metav1.FieldsV1]():
		return *objectOf(nil)
	}
	for _, outer := range within {
		if outer == t {
			return *objectOf(nil)
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem(), within)
	case reflect.Bool:
		return *spec.BoolProperty()
	case reflect.String:
		return *spec.StringProperty()
	case reflect.Int, reflect.Int32, reflect.Int64:
		return *spec.Int64Property()
	case reflect.Slice:
		element := describe(t.Elem(), within)
		return *spec.ArrayProperty(&element)
	case reflect.Map:
		element := describe(t.Elem(), within)
		return *spec.MapProperty(&element)
	case reflect.Struct:
		s := objectOf(map[string]spec.Schema{})
		addFields(s, t, append(within[:len(within):len(within)], t))
		return *s
	default:
		panic(fmt.Sprintf("no schema for %v", t))
	}
}

func addFields(s *spec.Schema, t reflect.Type, within []reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			addFields(s, field.Type, within)
		} else if name != "-" {
			s.Properties[name] = describe(field.Type, within)
		}
	}
}

func objectOf(properties map[string]spec.Schema) *spec.Schema {
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: properties}}
}

// widgetSpec returns the schema of a custom resource whose spec has the given properties.
func widgetSpec(properties map[string]spec.Schema) *spec.Schema {
	return objectOf(map[string]spec.Schema{"spec": *objectOf(properties)})
}

func extended(s *spec.Schema, extension string) spec.Schema {
	with := *s
	with.Extensions = spec.Extensions{extension: true}
	return with
}

func nullable(s *spec.Schema) spec.Schema {
	with := *s
	with.Nullable = true
	return with
}
