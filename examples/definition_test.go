// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package examples tests the examples of CustomResourceDefinitions without a server: the checks of
// a write, and the conversion and the defaults of their objects.
package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	internal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitionvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	conversions "celador.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// directories returns the directories of all examples of CustomResourceDefinitions.
func directories(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("crd-*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d directories, %v", len(names), err)
	}
	return names
}

// TestDefinitions checks the definitions as Kubernetes does on a write, and their objects.
func TestDefinitions(t *testing.T) {
	for _, directory := range directories(t) {
		d := load(t, directory)
		hub := &internal.CustomResourceDefinition{}
		if err := upstreamv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d.crd, hub, nil); err != nil {
			t.Fatal(err)
		}
		// Kubernetes does not know the strategy ConversionRules.
		hub.Spec.Conversion = &internal.CustomResourceConversion{Strategy: internal.NoneConverter}
		hub.Status.StoredVersions = []string{hub.Spec.Versions[0].Name}
		if errs := definitionvalidation.ValidateCustomResourceDefinition(t.Context(), hub); len(errs) > 0 {
			t.Errorf("%s: %v", directory, errs.ToAggregate())
		}
		d.objects(t)
	}
}

// converted are the directories of the examples with conversion rules.
var converted = []string{
	"crd-alertmanager-config", "crd-auth-config", "crd-certificate", "crd-machine-health-check", "crd-pipeline-run", "crd-pod-ips",
}

// A definition is the CustomResourceDefinition of an example.
type definition struct {
	directory   string
	crd         *upstreamv1.CustomResourceDefinition
	expressions *apiextensions.ExpressionFields
	schemas     *schemas.Schemas
	validators  map[string]validation.SchemaValidator
}

// load reads the CustomResourceDefinition of an example, with the defaults of the API. It ends the
// test if the manifest has unknown fields or a schema that is not structural.
func load(t testing.TB, directory string) *definition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, "definition.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd v1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatalf("%s: %v", directory, err)
	}
	scheme := runtime.NewScheme()
	if err := conversions.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	scheme.Default(&crd)
	d := &definition{directory: directory}
	if d.crd, d.expressions, err = conversions.Split(&crd); err != nil {
		t.Fatalf("%s: %v", directory, err)
	}
	if d.expressions == nil {
		d.expressions = &apiextensions.ExpressionFields{}
	}
	d.crd.Status.AcceptedNames = d.crd.Spec.Names
	if d.schemas, err = schemas.New(d.crd, d.expressions.Defaults); err != nil {
		t.Fatalf("%s: %v", directory, err)
	}
	d.validators = map[string]validation.SchemaValidator{}
	for _, version := range d.crd.Spec.Versions {
		properties, err := schemas.InternalSchema(version.Schema)
		if err != nil {
			t.Fatalf("%s: %v", directory, err)
		}
		if d.validators[version.Name], _, err = validation.NewSchemaValidator(properties); err != nil {
			t.Fatalf("%s: %v", directory, err)
		}
	}
	return d
}

// expectValid reports the violations of the schema, validation rules excepted.
func (d *definition) expectValid(t testing.TB, object *unstructured.Unstructured) {
	t.Helper()
	if errs := validation.ValidateCustomResource(nil, object.Object, d.validators[object.GroupVersionKind().Version]); len(errs) > 0 {
		t.Errorf("%s: %v\n%s", d.directory, errs.ToAggregate(), dump(object))
	}
}

// conversion returns what package conversion needs to know of the definition.
func (d *definition) conversion() *conversion.CRDSpec {
	c := &conversion.CRDSpec{
		Kind:       schema.GroupKind{Group: d.crd.Spec.Group, Kind: d.crd.Spec.Names.Kind},
		Converters: d.expressions.Converters,
		Tables:     d.expressions.Tables,
	}
	for _, version := range d.crd.Spec.Versions {
		c.Versions = append(c.Versions, conversion.Version{Name: version.Name, Schema: d.schemas.Structural(version.Name)})
	}
	return c
}

// others returns the names of the versions other than the given one.
func (d *definition) others(version string) (names []string) {
	for _, v := range d.crd.Spec.Versions {
		if v.Name != version {
			names = append(names, v.Name)
		}
	}
	return names
}

// objects returns the objects of an example by the names of their files, without suffix. It ends
// the test if an object has fields that its schema does not specify.
func (d *definition) objects(t testing.TB) map[string]*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.directory, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]*unstructured.Unstructured{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "definition" || name == "suite" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// The decoder of the API server, unlike that of YAML, tells integers from floating-point
		// numbers.
		inJSON, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(inJSON); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		unknown, err := d.schemas.Coerce(object, schemas.Coercion{ReportUnknownFields: true})
		if err != nil || len(unknown) > 0 {
			t.Fatalf("%s: unknown fields %q, error %v", file, unknown, err)
		}
		d.expectValid(t, object)
		objects[name] = object
	}
	if len(objects) == 0 {
		t.Fatalf("%s has no objects", d.directory)
	}
	return objects
}
