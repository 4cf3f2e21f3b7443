// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// existing are the namespaces of the cluster to which the runner of Kubescape's library applies
// objects: those of every cluster, and its own.
var existing = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, "test-namespace"}

// initial returns the object that exists in the runner's cluster before a test applies o, so that o
// is an update. It returns nil if o is new.
func (k *kubescapeSuite) initial(o *object) *object {
	name := o.GetName()
	switch kind := o.GroupVersionKind(); {
	case kind == namespaceKind && slices.Contains(existing, name):
	case kind == corev1.SchemeGroupVersion.WithKind("ServiceAccount") && name == "default":
	default:
		return nil
	}
	initial := &object{&unstructured.Unstructured{Object: map[string]any{}}, o.origin}
	initial.SetGroupVersionKind(o.GroupVersionKind())
	initial.SetName(name)
	initial.SetNamespace(o.GetNamespace())
	return initial
}

// define adds the CustomResourceDefinition of an object's kind to the manifests, if it is among the
// templates. The runner of Kubescape's library creates these definitions before all tests.
func (k *kubescapeSuite) define(o *object) {
	kind := o.GroupVersionKind().GroupKind()
	if !strings.Contains(kind.Group, ".") || cluster.IsCRD(o.Unstructured) {
		return // built-in
	}
	if k.definitions == nil {
		k.readDefinitions()
	}
	if definition := k.definitions[kind]; definition != nil {
		k.manifest(definition)
		delete(k.definitions, kind)
	}
}

// readDefinitions reads the CustomResourceDefinitions among the templates, except for that of the
// params.
func (k *kubescapeSuite) readDefinitions() {
	k.definitions = map[schema.GroupKind]*object{}
	entries, err := os.ReadDir(k.resources)
	if err != nil {
		k.fail("", "%v", err)
	}
	for _, entry := range entries {
		if file := filepath.Join(k.resources, entry.Name()); !entry.IsDir() && manifest.IsFile(file) {
			for _, definition := range definitionsIn(file) {
				k.definitions[cluster.CustomKind(definition.Unstructured)] = definition
			}
		}
	}
	for _, definition := range definitionsIn(k.definition) {
		delete(k.definitions, cluster.CustomKind(definition.Unstructured))
	}
}

// definitionsIn returns the CustomResourceDefinitions in a file. It ignores invalid documents,
// which are reported where the file is used.
func definitionsIn(file string) []*object {
	var definitions []*object
	for document, err := range manifest.Each(file) {
		if err != nil {
			continue
		}
		if content, err := document.Object(); err == nil && cluster.IsCRD(content) {
			definitions = append(definitions, &object{content, document})
		}
	}
	return definitions
}

// mayMatch reports whether a rule of the policy may match an object. It guesses the name of the
// resource from the kind.
func (k *kubescapeSuite) mayMatch(o *object) bool {
	kind := o.GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	var constraints struct {
		Rules []admissionregistrationv1.Rule `json:"resourceRules"`
	}
	content, _, _ := unstructured.NestedMap(k.policy.Object, "spec", "matchConstraints")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &constraints); err != nil {
		return true
	}
	return slices.ContainsFunc(constraints.Rules, func(rule admissionregistrationv1.Rule) bool {
		return (slices.Contains(rule.APIGroups, "*") || slices.Contains(rule.APIGroups, kind.Group)) &&
			slices.ContainsFunc(rule.Resources, func(name string) bool { return name == resource.Resource || strings.HasPrefix(name, "*") })
	})
}
