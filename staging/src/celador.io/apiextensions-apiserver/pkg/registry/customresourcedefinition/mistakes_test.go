// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/registry/generic"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"sigs.k8s.io/yaml"

	"celador.io/apiextensions-apiserver/pkg/features"
)

//go:embed testdata/mistakes.yaml
var mistakes []byte

// TestMistakes creates definitions with the mistakes in testdata/mistakes.yaml and compares all
// errors.
func TestMistakes(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceDefaultExpressions, true)
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, true)
	_, ours, _ := servers(t, generic.UndecoratedStorage)
	var cases []struct {
		Name, V1, V2, Converters string
		Errors, Warnings         []string
	}
	if err := yaml.UnmarshalStrict(mistakes, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			schemas := []string{specSchema(t, c.V1)}
			conversion := none
			if c.Converters != "" {
				other := c.V2
				if other == "" {
					other = c.V1
				}
				schemas = append(schemas, specSchema(t, other))
				conversion = toJSON(t, "strategy: ConversionRules\nconverters:"+indented(c.Converters, "  "))
			}
			crd := decodeOurs(t, manifest(conversion, schemas...))
			var warned warnings
			ctx := warning.WithWarningRecorder(testContext(), &warned)
			ours.store.CreateStrategy.PrepareForCreate(ctx, crd)
			if diff := cmp.Diff(c.Errors, messages(ours.store.CreateStrategy.Validate(ctx, crd))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.Warnings, warned.texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// specSchema returns the schema of an object whose spec has properties in YAML.
func specSchema(t *testing.T, properties string) string {
	t.Helper()
	return toJSON(t, "type: object\nproperties:\n  spec:\n    type: object\n    properties:"+indented(properties, "      "))
}

// indented returns lines of YAML below a key.
func indented(text, indent string) string {
	return "\n" + indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

func toJSON(t *testing.T, text string) string {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
