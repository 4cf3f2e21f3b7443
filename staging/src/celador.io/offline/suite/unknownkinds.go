// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/offline/cluster"
)

// unknownKinds returns definitions, without schemas, for the kinds of a test that neither the base
// nor its manifests define, so that the cluster of a test can store custom resources whose
// CustomResourceDefinitions the user does not have. A resource is namespaced if one of its objects,
// or a request for one, has a namespace.
func unknownKinds(base *cluster.Base, test *Test) ([]object, error) {
	known := map[schema.GroupKind]bool{}
	for o := range test.manifests {
		if o.content.GetKind() == cluster.CRDKind {
			known[cluster.CustomKind(o.content)] = true
		}
	}
	definitions := map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}
	var order []schema.GroupKind
	add := func(content *unstructured.Unstructured, namespaced, hasStatus bool) {
		if content == nil {
			return
		}
		kind := content.GroupVersionKind()
		if known[kind.GroupKind()] || kind.Kind == "" || kind.Version == "" || base.Serves(kind) {
			return
		}
		d := definitions[kind.GroupKind()]
		if d == nil {
			d = newDefinition(kind)
			definitions[kind.GroupKind()] = d
			order = append(order, kind.GroupKind())
		}
		addVersion(d, kind.Version)
		if namespaced || content.GetNamespace() != "" {
			d.Spec.Scope = apiextensionsv1.NamespaceScoped
		}
		for i := range d.Spec.Versions {
			if hasStatus {
				d.Spec.Versions[i].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
			}
		}
	}
	for o := range test.manifests {
		add(o.content, false, false)
	}
	for i := range test.cases {
		if request := test.cases[i].request; request != nil {
			for _, content := range []*unstructured.Unstructured{request.OldObject, request.Object} {
				add(content, request.Namespace != "", request.Subresource == "status")
			}
		}
	}
	var objects []object
	for _, kind := range order {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(definitions[kind])
		if err != nil {
			return nil, err
		}
		unstructured.RemoveNestedField(content, "status")
		objects = append(objects, object{test.document, &unstructured.Unstructured{Object: content}})
	}
	return objects, nil
}

// newDefinition returns a CustomResourceDefinition for a kind, without versions. The kind does not
// tell the name of the resource, so it is the one that clients guess.
func newDefinition(kind schema.GroupVersionKind) *apiextensionsv1.CustomResourceDefinition {
	plural, singular := meta.UnsafeGuessKindToResource(kind)
	d := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: cluster.CRDKind},
		ObjectMeta: metav1.ObjectMeta{Name: plural.GroupResource().String()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group,
			Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural.Resource, Singular: singular.Resource, Kind: kind.Kind, ListKind: kind.Kind + "List"},
		},
	}
	if strings.HasSuffix(kind.Group, ".k8s.io") || strings.HasSuffix(kind.Group, ".kubernetes.io") {
		d.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, a test"}
	}
	return d
}

// addVersion adds a version to the definition, unless it has the version. Without a schema, the
// version accepts all fields.
func addVersion(d *apiextensionsv1.CustomResourceDefinition, name string) {
	for i := range d.Spec.Versions {
		if d.Spec.Versions[i].Name == name {
			return
		}
	}
	d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Storage: len(d.Spec.Versions) == 0,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: new(true),
		}},
	})
}
