// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving_test

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// observer is an admission plugin that may read the object. It fails if reading it is forbidden.
type observer struct {
	reads  bool
	called int
}

func (*observer) Handles(admission.Operation) bool { return true }

func (o *observer) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	o.called++
	if o.reads && a.GetObject() == nil {
		return apierrors.NewBadRequest("there is no object")
	}
	return nil
}

// patchWidget applies a change of an object in a version, as a patch of metadata alone.
func (g *gadgets) patchWidget(t *testing.T, version, name string, plugin admission.Interface, onlyMetadata bool, change func(*unstructured.Unstructured)) (runtime.Object, error) {
	storage, chain := g.Version(version).MetadataPatch(plugin, func() bool { return onlyMetadata })
	gvk := schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"}
	attributes := admission.NewAttributesRecord(nil, nil, gvk, "a", name, gvk.GroupVersion().WithResource("widgets"), "", admission.Update, nil, false, nil)
	info := rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, object runtime.Object) (runtime.Object, error) {
		u := object.DeepCopyObject().(*unstructured.Unstructured)
		change(u)
		return u, nil
	})
	out, _, err := storage.Update(in(t.Context(), "a"), name, info, rest.ValidateAllObjectFunc, rest.AdmissionToValidateObjectUpdateFunc(chain, attributes, nil), false, &metav1.UpdateOptions{})
	return out, err
}

// Labels and annotations of another version than the stored one are those that rules set, which
// cannot be patched without a conversion.
func TestMetadataPatchAndRulesForMetadata(t *testing.T) {
	g := serveGadgets(t, func(_ *apiextensionsv1.CustomResourceDefinition, e *apiextensions.ExpressionFields) {
		e.Converters[0].Rules = append(e.Converters[0].Rules, v1.ConversionRule{Field: "metadata.labels['size']", Rule: "has(self.spec.size) ? optional.of(self.spec.size) : optional.none()"})
	})
	label := func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"size": "small"}) }
	finalizer := func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.com/hold"}) }
	for name, test := range map[string]struct {
		version string
		change  func(*unstructured.Unstructured)
		fails   bool
		// label is that of the response.
		label string
	}{
		"finalizer in v2": {version: "v2", change: finalizer, label: "big"},
		"finalizer in v1": {version: "v1", change: finalizer},
		"label in v2":     {version: "v2", change: label, fails: true},
		"label in v1":     {version: "v1", change: label, label: "small"},
	} {
		t.Run(name, func(t *testing.T) {
			g.put(t, "v1", "a", "broken", map[string]any{"timeout": "soon", "size": "big"})
			got, err := g.patchWidget(t, test.version, "broken", &observer{}, true, test.change)
			if (err != nil) != test.fails {
				t.Fatalf("got error %v, want one: %t", err, test.fails)
			}
			if !test.fails && got.(*unstructured.Unstructured).GetLabels()["size"] != test.label {
				t.Errorf("got %v, want label %q", got, test.label)
			}
			stored, err := g.Version("v1").Storage.CustomResource.Get(in(t.Context(), "a"), "broken", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			u := stored.(*unstructured.Unstructured)
			if test.version == "v2" && u.GetLabels() != nil {
				t.Errorf("stored with labels %v, which a rule sets", u.GetLabels())
			}
			if timeout, _, _ := unstructured.NestedString(u.Object, "spec", "timeout"); timeout != "soon" {
				t.Errorf("stored as %v, want the spec as before", u)
			}
		})
	}
}

// A plugin that reads the object refuses the patch. Objects that convert are patched as usual.
func TestAdmissionOfMetadataPatches(t *testing.T) {
	g := serveGadgets(t, nil)
	label := func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) }
	for _, test := range []struct {
		name, timeout string
		onlyMetadata  bool
		plugin        observer
		fails         bool
	}{
		{name: "reads-nothing", timeout: "soon", onlyMetadata: true},
		{name: "reads-the-object", timeout: "soon", onlyMetadata: true, plugin: observer{reads: true}, fails: true},
		{name: "object-that-converts", timeout: "1s", onlyMetadata: true, plugin: observer{reads: true}},
		{name: "more-than-metadata", timeout: "soon", fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			g.put(t, "v1", "a", test.name, map[string]any{"timeout": test.timeout})
			_, err := g.patchWidget(t, "v2", test.name, &test.plugin, test.onlyMetadata, label)
			if test.fails != (err != nil) || test.fails && !apierrors.IsInternalError(err) {
				t.Errorf("got error %v, want one: %t", err, test.fails)
			}
			if called := test.onlyMetadata; called != (test.plugin.called == 1) {
				t.Errorf("admission was called %d times", test.plugin.called)
			}
		})
	}
}
