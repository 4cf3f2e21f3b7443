// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// Metadata returns the metadata of an object with label app=shop.
func Metadata(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "shop"}}
}

// Received returns an object as an API server has it after it has decoded a request: with defaults,
// and in its internal version.
func Received(object runtime.Object) runtime.Object {
	legacyscheme.Scheme.Default(object)
	return Internal(object)
}

// Internal returns an object in its internal version, without defaults.
func Internal(object runtime.Object) runtime.Object {
	kinds, _, err := legacyscheme.Scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	converted, err := legacyscheme.Scheme.UnsafeConvertToVersion(object, schema.GroupVersion{Group: kinds[0].Group, Version: runtime.APIVersionInternal})
	if err != nil {
		panic(err)
	}
	return converted
}

// SetLabel sets a label of an object.
func SetLabel(object runtime.Object, name, value string) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	labels := maps.Clone(accessor.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[name] = value
	accessor.SetLabels(labels)
}

// Touch labels an object, as another plugin may do between the first round of mutating admission
// and the reinvocation.
func Touch(object runtime.Object) { SetLabel(object, "touched", "yes") }

// Manifest returns an object with the metadata that an API server sets. fields are names and
// values of further top-level fields.
func Manifest(apiVersion, kind, namespace, name string, fields ...any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	object.SetUID(types.UID("uid-of-" + name))
	object.SetResourceVersion("7")
	object.SetCreationTimestamp(metav1.Date(2026, 1, 2, 3, 4, 5, 0, metav1.Now().Location()))
	for i := 0; i+1 < len(fields); i += 2 {
		object.Object[fields[i].(string)] = fields[i+1]
	}
	return object
}

// Namespaces are the names of the namespaces of a cluster. Requests also refer to namespace
// "nowhere", which does not exist.
var Namespaces = []string{"blue", "red", "bare"}

// Namespace returns a namespace. All but "bare" have labels, annotations, owners and managed
// fields.
func Namespace(name string) *unstructured.Unstructured {
	object := Manifest("v1", "Namespace", "", name)
	if name != "bare" {
		object.SetLabels(map[string]string{"name": name, "kubernetes.io/metadata.name": name})
		object.SetAnnotations(map[string]string{"purpose": "test"})
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: "owner"}})
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{}}`)}}})
	}
	object.Object["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
	object.Object["status"] = map[string]any{"phase": "Active"}
	return object
}

// ConfigMap returns a ConfigMap that is a param of policies about replicas. most is the maximum
// number of replicas.
func ConfigMap(namespace, name, most string) *unstructured.Unstructured {
	object := Manifest("v1", "ConfigMap", namespace, name, "data", map[string]any{"most": most})
	object.SetLabels(map[string]string{"most": most})
	return object
}

// Limit returns a custom resource that is a param of policies about replicas. most is the maximum
// number of replicas. The kind is Limit or, if namespace is empty, ClusterLimit.
func Limit(namespace, name string, most int64) *unstructured.Unstructured {
	kind := "Limit"
	if namespace == "" {
		kind = "ClusterLimit"
	}
	object := Manifest("rules.example.com/v1", kind, namespace, name, "spec", map[string]any{"most": most, "prefixes": []any{"registry.example.com/"}})
	object.SetLabels(map[string]string{"set": "a"})
	return object
}

// NewWidget returns a custom resource of kind Widget with label app=shop. The field that version v1
// calls replicas is called size in v2.
func NewWidget(version, name string, size int64) *unstructured.Unstructured {
	field := "replicas"
	if version == "v2" {
		field = "size"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version,
		"kind":       "Widget",
		"metadata":   map[string]any{"namespace": "blue", "name": name, "labels": map[string]any{"app": "shop"}},
		"spec":       map[string]any{field: size, "parts": []any{"a", "b"}, "ratio": 0.5},
	}}
}
