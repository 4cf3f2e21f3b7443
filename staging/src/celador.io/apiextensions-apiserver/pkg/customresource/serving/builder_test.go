// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving_test

import (
	stdcmp "cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/webhook"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

func newBuilder(t *testing.T, storage *crdtest.Storage) *serving.Builder {
	t.Helper()
	wrapper := webhook.AuthenticationInfoResolverWrapper(func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	converters, err := conversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(), wrapper)
	if err != nil {
		t.Fatal(err)
	}
	return &serving.Builder{RESTOptions: storage, Converters: converters}
}

func build(t *testing.T, storage *crdtest.Storage, crd *apiextensionsv1.CustomResourceDefinition) *serving.ServedResource {
	t.Helper()
	resource, err := newBuilder(t, storage).Build(t.Context(), crd, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(resource.Destroy)
	return resource
}

// TestVersions covers which versions have a storage and scopes.
func TestVersions(t *testing.T) {
	unserved := crdtest.Stored(crdtest.Version("v1", nil))
	unserved.Served = false
	gone := crdtest.Version("v1alpha1", nil)
	gone.Served = false
	storage := &crdtest.Storage{}
	resource := build(t, storage, crdtest.New(unserved, crdtest.WithSubresources(crdtest.Version("v1beta1", nil)), gone))

	if resource.Version("v1alpha1") != nil || resource.Version("v2") != nil {
		t.Error("a version that is neither served nor stored is there")
	}
	if storage.Opened() != 2 {
		t.Errorf("opened %d storages, want one for the storage version and one for the served version", storage.Opened())
	}
	v1, v1beta1 := resource.Version("v1"), resource.Version("v1beta1")
	if v1.Served || v1 != resource.Stored() {
		t.Error("v1 is not the unserved storage version")
	}
	if v1.StatusScope != nil || v1.ScaleScope != nil || v1.Storage.Status != nil || v1.Storage.Scale != nil {
		t.Error("v1 has subresources that it does not declare")
	}
	if !v1beta1.Served || v1beta1.StatusScope == nil || v1beta1.ScaleScope == nil {
		t.Fatal("v1beta1 is not served with its subresources")
	}
	gv := schema.GroupVersion{Group: "example.com", Version: "v1beta1"}
	for name, got := range map[string]any{
		"kind": v1beta1.Scope.Kind, "resource": v1beta1.Scope.Resource, "hub": v1beta1.Scope.HubGroupVersion,
		"status kind": v1beta1.StatusScope.Kind, "status": v1beta1.StatusScope.Subresource,
		"scale kind": v1beta1.ScaleScope.Kind.String(), "scale": v1beta1.ScaleScope.Subresource, "scale's resource": v1beta1.ScaleScope.Resource,
	} {
		want := map[string]any{
			"kind": gv.WithKind("Widget"), "resource": gv.WithResource("widgets"), "hub": gv,
			"status kind": gv.WithKind("Widget"), "status": "status",
			"scale kind": "autoscaling/v1, Kind=Scale", "scale": "scale", "scale's resource": gv.WithResource("widgets"),
		}[name]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, resources := range []string{"", "status"} {
		if kind := v1.Scope.EquivalentResourceMapper.KindFor(gv.WithResource("widgets"), resources); kind != gv.WithKind("Widget") {
			t.Errorf("the equivalent of subresource %q in v1beta1 is %v", resources, kind)
		}
	}
}

// TestResetFields covers that an update of the status of one version leaves managed fields of all
// versions.
func TestResetFields(t *testing.T) {
	crd := crdtest.New(crdtest.Stored(crdtest.WithSubresources(crdtest.Version("v1", nil))), crdtest.WithSubresources(crdtest.Version("v1beta1", nil)))
	resource := build(t, &crdtest.Storage{}, crd)
	for _, version := range []string{"v1", "v1beta1"} {
		reset := resource.Version(version).Storage.Status.GetResetFields()
		if got := slices.Collect(maps.Keys(reset)); len(got) != 1 || string(got[0]) != "example.com/"+version {
			t.Errorf("the status of %s resets fields of %v", version, got)
		}
	}
}

func TestDeprecationWarning(t *testing.T) {
	deprecated := func(name string, text *string) apiextensionsv1.CustomResourceDefinitionVersion {
		v := crdtest.Version(name, nil)
		v.Deprecated, v.DeprecationWarning = true, text
		return v
	}
	unserved := crdtest.Version("v3", nil)
	unserved.Served = false
	for name, test := range map[string]struct {
		version apiextensionsv1.CustomResourceDefinitionVersion
		others  []apiextensionsv1.CustomResourceDefinitionVersion
		want    string
	}{
		"not deprecated":        {version: crdtest.Version("v1beta1", nil)},
		"own text":              {version: deprecated("v1beta1", new("move on")), want: "move on"},
		"nothing newer":         {version: deprecated("v1", nil), others: []apiextensionsv1.CustomResourceDefinitionVersion{crdtest.Version("v1beta1", nil)}, want: "example.com/v1 Widget is deprecated"},
		"newest that is served": {version: deprecated("v1alpha1", nil), others: []apiextensionsv1.CustomResourceDefinitionVersion{crdtest.Version("v1beta1", nil), crdtest.Version("v2", nil), crdtest.Version("v1", nil), unserved}, want: "example.com/v1alpha1 Widget is deprecated; use example.com/v2 Widget"},
		"newer is deprecated":   {version: deprecated("v1alpha1", nil), others: []apiextensionsv1.CustomResourceDefinitionVersion{deprecated("v1", nil)}, want: "example.com/v1alpha1 Widget is deprecated"},
	} {
		t.Run(name, func(t *testing.T) {
			resource := build(t, &crdtest.Storage{}, crdtest.New(append(test.others, crdtest.Stored(test.version))...))
			version := resource.Version(test.version.Name)
			if version.DeprecationWarning != test.want || version.Deprecated != test.version.Deprecated {
				t.Errorf("got %t, %q, want %t, %q", version.Deprecated, version.DeprecationWarning, test.version.Deprecated, test.want)
			}
		})
	}
}

// TestBuildErrors covers CustomResourceDefinitions that cannot be served. None may leave a storage
// open.
func TestBuildErrors(t *testing.T) {
	two := func() *apiextensionsv1.CustomResourceDefinition {
		return crdtest.New(crdtest.Stored(crdtest.Version("v1", nil)), crdtest.Version("v2", nil))
	}
	for name, test := range map[string]struct {
		change  func(*apiextensionsv1.CustomResourceDefinition)
		storage *crdtest.Storage
		want    string
	}{
		"no plural":           {change: func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.AcceptedNames.Plural = "" }, want: "status.acceptedNames.plural is empty"},
		"no singular":         {change: func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.AcceptedNames.Singular = "" }, want: "status.acceptedNames.singular is empty"},
		"no kind":             {change: func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.AcceptedNames.Kind = "" }, want: "status.acceptedNames.kind is empty"},
		"no list kind":        {change: func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.AcceptedNames.ListKind = "" }, want: "status.acceptedNames.listKind is empty"},
		"no storage version":  {change: func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Storage = false }, want: "storage version"},
		"conversion strategy": {change: func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Conversion.Strategy = "Guess" }, want: "unknown conversion strategy"},
		"converters are missing": {change: func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Spec.Conversion.Strategy = "ConversionRules"
		}, want: "the converters of spec.conversion are missing"},
		"not structural": {
			change: func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Spec.Versions[1].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{Ref: new("#/x")}
			},
			want: "schema of version v2",
		},
		"storage of the second version": {storage: &crdtest.Storage{Fail: errors.New("no connection"), Capacity: 1}, want: "version v2: failed to update store with options: no connection"},
	} {
		t.Run(name, func(t *testing.T) {
			crd := two()
			if test.change != nil {
				test.change(crd)
			}
			storage := stdcmp.Or(test.storage, &crdtest.Storage{})
			if _, err := newBuilder(t, storage).Build(t.Context(), crd, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
			if storage.Open() != 0 {
				t.Errorf("%d storages are still open", storage.Open())
			}
		})
	}
}

// TestSchemasWithoutModels covers schemas that are served although no OpenAPI models can be built
// from them.
func TestSchemasWithoutModels(t *testing.T) {
	crd := crdtest.New(crdtest.Stored(crdtest.Version("v1", nil)))
	crd.Spec.PreserveUnknownFields = true
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{Ref: new("#/x")}
	if resource := build(t, &crdtest.Storage{}, crd); resource.Version("v1").Scope.FieldManager == nil {
		t.Error("v1 has no field manager")
	}
}

func TestCurrent(t *testing.T) {
	crd := crdtest.New(crdtest.Stored(crdtest.Version("v1", nil)))
	resource := build(t, &crdtest.Storage{}, crd)
	for name, test := range map[string]struct {
		change      func(*apiextensionsv1.CustomResourceDefinition)
		expressions *apiextensions.ExpressionFields
		want        bool
	}{
		"equal":      {func(*apiextensionsv1.CustomResourceDefinition) {}, nil, true},
		"status":     {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.StoredVersions = []string{"v1"} }, nil, true},
		"metadata":   {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Annotations = map[string]string{"a": "b"} }, nil, true},
		"generation": {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Generation++ }, nil, false},
		"spec":       {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[0].Deprecated = true }, nil, false},
		"accepted names": {func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Status.AcceptedNames.ShortNames = []string{"w"}
		}, nil, false},
		"another UID": {func(crd *apiextensionsv1.CustomResourceDefinition) { crd.UID = "other" }, nil, false},
		"expressions": {func(*apiextensionsv1.CustomResourceDefinition) {}, &apiextensions.ExpressionFields{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := crd.DeepCopy()
			test.change(other)
			expressionsOf := func(*apiextensionsv1.CustomResourceDefinition) *apiextensions.ExpressionFields {
				return test.expressions
			}
			if got := resource.Current(other, expressionsOf); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	crd := crdtest.New(crdtest.Stored(crdtest.Version("v1", nil)))
	storage := &crdtest.Storage{}
	resource := build(t, storage, crd)
	if !resource.Acquire() {
		t.Fatal("a new Resource cannot be acquired")
	}
	if err := resource.Drain(time.Nanosecond, nil); err == nil {
		t.Error("Drain has not waited for a request")
	}
	stopped := make(chan struct{})
	close(stopped)
	if err := resource.Drain(time.Hour, stopped); err == nil {
		t.Error("Drain has waited although the server has stopped")
	}
	if resource.Acquire() {
		t.Error("a drained Resource was acquired")
	}
	resource.Release()
	if err := resource.Drain(time.Hour, nil); err != nil {
		t.Errorf("after the last request: %v", err)
	}
	if storage.Open() != 1 {
		t.Error("Drain has closed the storage")
	}
	resource.Destroy()
	resource.Destroy()
	if storage.Open() != 0 {
		t.Error("Destroy has not closed the storage")
	}
}
