// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage_test

import (
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"

	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
	"celador.io/apiextensions-apiserver/pkg/registry/customresource"
)

// renaming converts objects whose spec.old is a text, which spec.new has in v2.
type renaming struct{ versionedstorage.Converter }

func (renaming) ConvertObject(in *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	value, ok, _ := unstructured.NestedString(in.Object, "spec", "old")
	if !ok {
		return nil, errors.New("no such key: old")
	}
	in.SetAPIVersion(to.String())
	return in, unstructured.SetNestedField(in.Object, value, "spec", "new")
}

// An object that does not convert may match any selector of fields that differ between versions,
// and matches selectors of metadata like others.
func TestFieldSelectors(t *testing.T) {
	v2 := schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Widget"}
	attributes := versionedstorage.NewAttributes(storage.DefaultNamespaceScopedAttr)
	attributes.Add(v2.GroupVersion(), customresource.Attributes(v2, true, []apiextensionsv1.SelectableField{{JSONPath: ".spec.new"}}), renaming{})
	view := versionedstorage.NewVersionStorage(&versionedstorage.SharedStorage{Attributes: attributes}, v2, nil)
	defer view.Close()
	converts := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "default", "name": "a"}, "spec": map[string]any{"old": "x"},
	}}
	fails := converts.DeepCopy()
	delete(fails.Object, "spec")

	for selector, want := range map[string]struct{ converts, fails bool }{
		"metadata.name=a":             {true, true},
		"metadata.name=b":             {false, false},
		"metadata.name!=a":            {false, false},
		"metadata.namespace=default":  {true, true},
		"spec.new=x":                  {true, true},
		"spec.new!=x":                 {false, true},
		"spec.new=y":                  {false, true},
		"metadata.name=a,spec.new=y":  {false, true},
		"metadata.name=b,spec.new=x":  {false, false},
		"metadata.name!=a,spec.new=x": {false, false},
	} {
		field, err := fields.ParseSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		predicate := view.Predicate(storage.SelectionPredicate{Label: labels.Everything(), Field: field})
		for object, want := range map[*unstructured.Unstructured]bool{converts: want.converts, fails: want.fails} {
			if got, err := predicate.Matches(object); err != nil || got != want {
				t.Errorf("%s: %v matches: %t, %v", selector, object.Object, got, err)
			}
		}
	}
}
