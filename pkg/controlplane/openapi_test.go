// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/generated/openapi"

	"celador.io/celador/pkg/generated/openapi"
)

func ref(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + name) }

func TestOpenAPIDefinitions(t *testing.T) {
	all, ours := openapi.GetMergedOpenAPIDefinitions(ref), openapi.GetOpenAPIDefinitions(ref)
	for name := range upstream.GetOpenAPIDefinitions(ref) {
		if _, ok := all[name]; !ok {
			t.Errorf("upstream's model %s is gone", name)
		}
	}
	for name, want := range ours {
		if !reflect.DeepEqual(all[name], want) {
			t.Errorf("model %s is not ours", name)
		}
	}
}

// Clients of upstream's models can use Celador's: Celador's models contain upstream's, except for
// descriptions. All versions share the models of v1, and enumerations may have more values.
func TestOwnModelsKeepUpstreamsShape(t *testing.T) {
	theirs, ours := upstream.GetOpenAPIDefinitions(ref), openapi.GetOpenAPIDefinitions(ref)
	for name, model := range ours {
		if want, ok := theirs[name]; ok {
			contains(t, name, plain(t, model), plain(t, want))
		}
	}
}

// plain returns a model as JSON values. References to models of other versions become references to
// v1.
func plain(t *testing.T, model common.OpenAPIDefinition) (value any) {
	t.Helper()
	encoded, err := json.Marshal(model.Schema)
	if err != nil {
		t.Fatal(err)
	}
	shared := strings.NewReplacer("/io.k8s.api.admissionregistration.v1beta1.", "/io.k8s.api.admissionregistration.v1.",
		"/io.k8s.api.admissionregistration.v1alpha1.", "/io.k8s.api.admissionregistration.v1.")
	if err := json.Unmarshal([]byte(shared.Replace(string(encoded))), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// contains reports an error for each value of want that got does not contain.
func contains(t *testing.T, path string, got, want any) {
	t.Helper()
	expected, ok := want.(map[string]any)
	if !ok {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
		return
	}
	object, ok := got.(map[string]any)
	if !ok {
		t.Errorf("%s: got %v, want %v", path, got, want)
		return
	}
	for key, value := range expected {
		if _, text := value.(string); key == "description" && text {
			continue
		}
		if values, list := value.([]any); list && key == "enum" {
			offered, _ := object[key].([]any)
			for _, known := range values {
				if !slices.Contains(offered, known) {
					t.Errorf("%s.enum: got %v, want %v among them", path, offered, known)
				}
			}
			continue
		}
		contains(t, path+"."+key, object[key], value)
	}
}

func TestModelsNameTheirKindOnce(t *testing.T) {
	namer := openapinamer.NewDefinitionNamer(legacyscheme.Scheme, apiextensionsapiserver.Scheme, newOpenAPIScheme())
	expect := func(model, group, version, kind string) {
		t.Helper()
		_, extensions := namer.GetDefinitionName(model)
		want := []any{map[string]any{"group": group, "version": version, "kind": kind}}
		if got := extensions["x-kubernetes-group-version-kind"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", model, got, want)
		}
	}
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		for _, kind := range []string{
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
		} {
			expect(fmt.Sprintf("io.k8s.api.admissionregistration.%s.%s", version, kind), "admissionregistration.k8s.io", version, kind)
		}
	}
	for _, kind := range []string{"CustomResourceDefinition", "CustomResourceDefinitionList", "ConversionReview"} {
		expect("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."+kind, "apiextensions.k8s.io", "v1", kind)
	}
}
