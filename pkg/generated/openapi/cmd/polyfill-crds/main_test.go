// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	"celador.io/admission/defaults"
	"celador.io/polyfill/pkg/policyapi"
)

const manifests = "../../../../../deploy/webhook/chart/crds"

// The manifests of the chart are what the command writes.
func TestManifests(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	got, want := readAll(t, manifests), readAll(t, dir)
	if len(want) != len(kinds()) || !maps.Equal(got, want) {
		t.Errorf("%s is out of date: run hack/update-codegen.sh\n%s", manifests, cmp.Diff(want, got))
	}
}

func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		contents[file.Name()] = string(content)
	}
	return contents
}

// A CustomResourceDefinition of the chart, as an API server sees it.
type definition struct {
	kind       kind
	spec       apiextensions.CustomResourceDefinitionSpec
	schema     *apiextensions.JSONSchemaProps
	structural *structuralschema.Structural
}

func definitions(t *testing.T) []definition {
	t.Helper()
	scheme := runtime.NewScheme()
	utilruntime.Must(apiextensions.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	files := readAll(t, manifests)
	var all []definition
	for _, k := range kinds() {
		var external apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict([]byte(files[k.plural+".yaml"]), &external); err != nil {
			t.Fatal(err)
		}
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(&external)
		var internal apiextensions.CustomResourceDefinition
		if err := scheme.Convert(&external, &internal, nil); err != nil {
			t.Fatal(err)
		}
		internal.Status.StoredVersions = []string{"v1"}
		if errs := apiextensionsvalidation.ValidateCustomResourceDefinition(t.Context(), &internal); len(errs) > 0 {
			t.Errorf("%s: %v", k.name, errs.ToAggregate())
		}
		schema := internal.Spec.Validation.OpenAPIV3Schema
		structural, err := structuralschema.NewStructural(schema)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, definition{k, internal.Spec, schema, structural})
	}
	return all
}

func TestDefinitions(t *testing.T) {
	want := map[string][]string{
		"ValidatingAdmissionPolicy":        {"ParamKind", "Available", "TypeChecked", "Age"},
		"MutatingAdmissionPolicy":          {"ParamKind", "Available", "TypeChecked", "Age"},
		"ValidatingAdmissionPolicyBinding": {"PolicyName", "ParamRef", "Age"},
		"MutatingAdmissionPolicyBinding":   {"PolicyName", "ParamRef", "Age"},
	}
	for _, d := range definitions(t) {
		var columns []string
		for _, column := range d.spec.AdditionalPrinterColumns {
			columns = append(columns, column.Name)
		}
		if d.spec.Scope != apiextensions.ClusterScoped || !slices.Equal(columns, want[d.kind.name]) || !slices.Equal(d.spec.Names.Categories, []string{"api-extensions"}) {
			t.Errorf("%s: got scope %s, columns %q, categories %q", d.kind.name, d.spec.Scope, columns, d.spec.Names.Categories)
		}
		if hasStatus := d.spec.Subresources != nil && d.spec.Subresources.Status != nil; hasStatus != !strings.HasSuffix(d.kind.name, "Binding") {
			t.Errorf("%s: has status %t", d.kind.name, hasStatus)
		}
		undescribed(t, d.kind.name, d.structural)
	}
}

// undescribed fails for each field without a description.
func undescribed(t *testing.T, path string, schema *structuralschema.Structural) {
	t.Helper()
	for name, property := range schema.Properties {
		if property.Description == "" && name != "metadata" {
			t.Errorf("%s.%s has no description", path, name)
		}
		undescribed(t, path+"."+name, &property)
	}
	if schema.Items != nil {
		undescribed(t, path+"[]", schema.Items)
	}
}

// An API server stores each field of an object, and defaults are those of the native API.
func TestRandomObjects(t *testing.T) {
	scheme := runtime.NewScheme()
	utilruntime.Must(defaults.RegisterDefaults(scheme))
	utilruntime.Must(policyapi.AddToScheme(scheme))
	for _, d := range definitions(t) {
		validator, _, err := schemavalidation.NewSchemaValidator(d.schema)
		if err != nil {
			t.Fatal(err)
		}
		for nils, rounds := range map[float64]int{0: 20, 0.5: 500} {
			filler := randfill.NewWithSeed(1).NilChance(nils).NumElements(1, 3).MaxDepth(20).Funcs(
				// Keys of lists differ.
				func(text *string, c randfill.Continue) { *text = strconv.FormatUint(c.Uint64(), 36) },
				func(time *metav1.Time, c randfill.Continue) { *time = metav1.Unix(c.Int63n(1<<32), 0) },
				func(meta *metav1.ObjectMeta, c randfill.Continue) { meta.Name = "demo" },
			)
			for range rounds {
				obj := reflect.New(reflect.TypeOf(d.kind.skeleton).Elem()).Interface().(runtime.Object)
				filler.Fill(obj)
				obj.GetObjectKind().SetGroupVersionKind(policyapi.GroupVersion.WithKind(d.kind.name))
				sent, stored := content(t, obj), content(t, obj)
				structuraldefaulting.PruneNonNullableNullsWithoutDefaults(stored, d.structural)
				pruning.Prune(stored, d.structural, true)
				if diff := cmp.Diff(sent, stored); diff != "" {
					t.Fatalf("%s is pruned (-sent +stored):\n%s", d.kind.name, diff)
				}
				structuraldefaulting.Default(stored, d.structural)
				if errs := schemavalidation.ValidateCustomResource(nil, stored, validator); len(errs) > 0 {
					t.Fatalf("%s: %v", d.kind.name, errs.ToAggregate())
				}
				if errs := listtype.ValidateListSetsAndMaps(nil, d.structural, stored); len(errs) > 0 {
					t.Fatalf("%s: %v", d.kind.name, errs.ToAggregate())
				}
				scheme.Default(obj)
				got := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored, got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(content(t, obj), content(t, got)); diff != "" {
					t.Fatalf("%s has other defaults (-native +stored):\n%s", d.kind.name, diff)
				}
			}
		}
	}
}

func content(t *testing.T, obj runtime.Object) map[string]any {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}
