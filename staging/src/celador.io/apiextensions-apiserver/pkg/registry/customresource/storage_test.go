// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresource_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
	"celador.io/apiextensions-apiserver/pkg/registry/customresource"
)

const unchecked = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// A recorder is a validation that returns errors and records its objects. Its default is an
// annotation.
type recorder struct {
	errs        field.ErrorList
	object, old map[string]any
	calls       int
}

func (r *recorder) Validate(_ context.Context, object, old map[string]any) field.ErrorList {
	r.object, r.old = object, old
	r.calls++
	return r.errs
}

func (*recorder) Default(object map[string]any) {
	(&unstructured.Unstructured{Object: object}).SetAnnotations(map[string]string{"defaulted": "yes"})
}

func newStorage(t *testing.T, stored *unstructured.Unstructured, rules customresource.Validator, defaults customresource.Defaults) customresource.Storages {
	t.Helper()
	return newConvertedStorage(t, stored, rules, defaults, nil)
}

func newConvertedStorage(t *testing.T, stored *unstructured.Unstructured, rules customresource.Validator, defaults customresource.Defaults, conversions customresource.Validator) customresource.Storages {
	t.Helper()
	return newStorageWith(t, stored, rules, defaults, conversions, &apiextensions.CustomResourceSubresourceStatus{},
		&apiextensions.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"})
}

func newStorageWith(t *testing.T, stored *unstructured.Unstructured, rules customresource.Validator, defaults customresource.Defaults, conversions customresource.Validator, status *apiextensions.CustomResourceSubresourceStatus, scale *apiextensions.CustomResourceSubresourceScale) customresource.Storages {
	t.Helper()
	version := crdtest.WithSubresources(crdtest.Version("v1", nil))
	spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Required = []string{"replicas"}
	version.Schema.OpenAPIV3Schema.Properties["spec"] = spec
	crd := crdtest.New(crdtest.Stored(version))
	all, err := schemas.New(crd, nil)
	if err != nil {
		t.Fatal(err)
	}
	internal, err := schemas.InternalSchema(version.Schema)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		t.Fatal(err)
	}
	table, err := tableconvertor.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	storage, err := customresource.NewStorage(&customresource.Config{
		Resource: schema.GroupResource{Group: "example.com", Resource: "widgets"}, Singular: schema.GroupResource{Group: "example.com", Resource: "widget"},
		Kind: gv.WithKind("Widget"), ListKind: gv.WithKind("WidgetList"), Namespaced: true,
		Schema: all.Structural("v1"), Validator: validator, Rules: rules, Defaults: defaults, Conversions: conversions,
		Status: status, Scale: scale,
		ReplicasPaths: managedfields.ResourcePathMappings{}, Typer: codecs.NewTyper(codecs.NewOptionsScheme(gv)),
		RESTOptions: &crdtest.Storage{Object: stored}, Table: table,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(storage.CustomResource.Destroy)
	return storage
}

func widget(replicas any) *unstructured.Unstructured {
	spec := map[string]any{}
	if replicas != nil {
		spec["replicas"] = replicas
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "a", "namespace": "default", "uid": "1", "resourceVersion": "1"},
		"spec":     spec,
	}}
}

// causes returns the causes of an Invalid error.
func causes(t *testing.T, err error) (causes []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonInvalid {
		t.Fatalf("%v is not an Invalid error", err)
	}
	for _, cause := range status.Status().Details.Causes {
		causes = append(causes, cause.Field+": "+cause.Message)
	}
	return causes
}

// TestValidation covers which validations a write calls, and the order of their errors.
func TestValidation(t *testing.T) {
	failure := func(name string) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("spec"), "x", name)}
	}
	const missing = "spec.replicas: Required value"
	for name, test := range map[string]struct {
		replicas        any
		rules, defaults field.ErrorList
		want            []string
		blocked         bool
	}{
		"valid":           {replicas: int64(1)},
		"rules":           {replicas: int64(1), rules: failure("rule"), want: []string{`spec: Invalid value: "x": rule`}},
		"schema":          {want: []string{missing, unchecked}, rules: failure("rule"), blocked: true},
		"defaults":        {replicas: int64(1), defaults: failure("default"), rules: failure("rule"), want: []string{`spec: Invalid value: "x": default`, unchecked}, blocked: true},
		"schema and both": {defaults: failure("default"), rules: failure("rule"), want: []string{missing, `spec: Invalid value: "x": default`, unchecked}, blocked: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, write := range []string{"create", "update", "status", "scale"} {
				t.Run(write, func(t *testing.T) {
					rules, defaults := &recorder{errs: test.rules}, &recorder{errs: test.defaults}
					stored := widget(int64(7))
					if write == "create" {
						stored = nil
					}
					if test.replicas == nil && (write == "scale" || write == "status") {
						return // cannot remove the replicas
					}
					err := do(t, newStorage(t, stored, rules, defaults), write, widget(test.replicas))
					if diff := cmp.Diff(test.want, causes(t, err)); diff != "" {
						t.Errorf("causes (-want +got):\n%s", diff)
					}
					if want := map[bool]int{true: 0, false: 1}[test.blocked]; rules.calls != want {
						t.Errorf("rules were evaluated %d times, want %d", rules.calls, want)
					}
					if defaults.calls != 1 || (defaults.old == nil) != (write == "create") {
						t.Errorf("defaults were checked %d times, with the old object %v", defaults.calls, defaults.old)
					}
					if got := (&unstructured.Unstructured{Object: defaults.object}).GetAnnotations(); got["defaulted"] == "" {
						t.Error("the validated object has no defaults")
					}
				})
			}
		})
	}
}

// TestConversions covers that every write of a valid object checks its conversions, with the old
// object.
func TestConversions(t *testing.T) {
	failure := field.ErrorList{field.Invalid(field.NewPath("spec"), "x", "failed")}
	for _, write := range []string{"create", "update", "status", "scale"} {
		t.Run(write, func(t *testing.T) {
			stored := widget(int64(7))
			if write == "create" {
				stored = nil
			}
			conversions := &recorder{errs: failure}
			err := do(t, newConvertedStorage(t, stored, nil, nil, conversions), write, widget(int64(1)))
			if diff := cmp.Diff([]string{`spec: Invalid value: "x": failed`}, causes(t, err)); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			if (conversions.old == nil) != (write == "create") {
				t.Errorf("got the old object %v", conversions.old)
			}
			conversions = &recorder{errs: failure}
			err = do(t, newConvertedStorage(t, stored, &recorder{errs: field.ErrorList{field.Required(field.NewPath("spec"), "rule")}}, nil, conversions), write, widget(int64(1)))
			if err == nil || conversions.calls != 0 {
				t.Errorf("got error %v, and %d conversions of an invalid object", err, conversions.calls)
			}
		})
	}
}

// do is a dry run of a write.
func do(t *testing.T, storage customresource.Storages, write string, object *unstructured.Unstructured) error {
	t.Helper()
	ctx := request.WithRequestInfo(request.WithNamespace(t.Context(), "default"), &request.RequestInfo{APIGroup: "example.com", APIVersion: "v1", Resource: "widgets"})
	create := &metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	update := &metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}
	var err error
	switch write {
	case "create":
		object.SetResourceVersion("")
		object.SetUID("")
		_, err = storage.CustomResource.Create(ctx, object, rest.ValidateAllObjectFunc, create)
	case "update":
		_, _, err = storage.CustomResource.Update(ctx, "a", rest.DefaultUpdatedObjectInfo(object), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, update)
	case "status":
		object.Object["status"] = map[string]any{"replicas": int64(1)}
		_, _, err = storage.Status.Update(ctx, "a", rest.DefaultUpdatedObjectInfo(object), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, update)
	case "scale":
		change := func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
			scale := old.(*autoscalingv1.Scale).DeepCopy()
			scale.Spec.Replicas++
			return scale, nil
		}
		_, _, err = storage.Scale.Update(ctx, "a", rest.DefaultUpdatedObjectInfo(nil, change), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, update)
	}
	return err
}

// TestStatus covers that an update of the status keeps the stored spec, and that rules see both
// objects.
func TestStatus(t *testing.T) {
	rules := &recorder{}
	storage := newStorage(t, widget(int64(7)), rules, nil)
	if err := do(t, storage, "status", widget(int64(8))); err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]map[string]any{"new": rules.object, "old": rules.old} {
		if replicas, _, _ := unstructured.NestedInt64(object, "spec", "replicas"); replicas != 7 {
			t.Errorf("the %s object has %d replicas", name, replicas)
		}
		if _, hasStatus := object["status"]; hasStatus != (name == "new") {
			t.Errorf("the %s object has a status: %t", name, hasStatus)
		}
	}
	if got, err := storage.Status.Get(request.WithNamespace(t.Context(), "default"), "a", &metav1.GetOptions{}); err != nil || got.(*unstructured.Unstructured).GetName() != "a" {
		t.Errorf("got %v, error %v", got, err)
	}
}

// largeDefault is a default expression that sets status.phase and reads spec.replicas.
type largeDefault struct{ recorder }

func (*largeDefault) Default(object map[string]any) {
	if replicas, _, _ := unstructured.NestedInt64(object, "spec", "replicas"); replicas > 10 {
		if status, ok := object["status"].(map[string]any); ok && status["phase"] == nil {
			status["phase"] = "Large"
		}
	}
}

// largeRule is a validation rule that lets status.phase keep an invalid value.
type largeRule struct{ old map[string]any }

func (r *largeRule) Validate(_ context.Context, object, old map[string]any) field.ErrorList {
	r.old = runtime.DeepCopyJSON(old)
	got, _, _ := unstructured.NestedString(object, "status", "phase")
	if before, _, _ := unstructured.NestedString(old, "status", "phase"); got == "Large" && before != "Large" {
		return field.ErrorList{field.Forbidden(field.NewPath("status", "phase"), "too large")}
	}
	return nil
}

// TestDefaultsKeepOldObject covers that default expressions set no fields of the old object, from
// which updates take values: a rule would find that an invalid value has not changed.
func TestDefaultsKeepOldObject(t *testing.T) {
	stored := widget(int64(1))
	stored.Object["status"] = map[string]any{}
	rules := &largeRule{}
	err := do(t, newStorage(t, stored, rules, &largeDefault{}), "update", widget(int64(99)))
	if diff := cmp.Diff([]string{"status.phase: Forbidden: too large"}, causes(t, err)); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{}, rules.old["status"]); diff != "" {
		t.Errorf("the status of the old object (-want +got):\n%s", diff)
	}
}

// TestDefaultsAgain covers when default expressions run once more before an object is stored:
// decoding has run them, and a second run may set a field that the first one has left unset.
func TestDefaultsAgain(t *testing.T) {
	status, scale := &apiextensions.CustomResourceSubresourceStatus{}, &apiextensions.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas"}
	for name, test := range map[string]struct {
		status    *apiextensions.CustomResourceSubresourceStatus
		scale     *apiextensions.CustomResourceSubresourceScale
		generated bool
		// want says after which writes the object has the defaults.
		want map[string]bool
	}{
		"no subresources":    {want: map[string]bool{"create": false, "update": false}},
		"a generated name":   {generated: true, want: map[string]bool{"create": true, "update": false}},
		"status subresource": {status: status, want: map[string]bool{"create": true, "update": true, "status": true}},
		"scale subresource":  {scale: scale, want: map[string]bool{"create": true, "update": true, "scale": true}},
	} {
		for write, want := range test.want {
			t.Run(name+", "+write, func(t *testing.T) {
				defaults := &recorder{}
				stored := widget(int64(7))
				if write == "create" {
					stored = nil
				}
				object := widget(int64(7))
				if test.generated {
					object.SetGenerateName("a-")
				}
				if err := do(t, newStorageWith(t, stored, nil, defaults, nil, test.status, test.scale), write, object); err != nil {
					t.Fatal(err)
				}
				if got := (&unstructured.Unstructured{Object: defaults.object}).GetAnnotations()["defaulted"] != ""; got != want {
					t.Errorf("the object has defaults: %t, want %t", got, want)
				}
			})
		}
	}
}

// TestWithoutRules covers that errors of the schema do not mention rules if there are none.
func TestWithoutRules(t *testing.T) {
	err := do(t, newStorage(t, nil, nil, nil), "create", widget(nil))
	if diff := cmp.Diff([]string{"spec.replicas: Required value"}, causes(t, err)); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}
