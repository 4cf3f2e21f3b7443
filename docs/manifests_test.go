// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"
)

// manifest matches an indented YAML document that begins with the API version of policies.
var manifest = regexp.MustCompile(`(?m)^    apiVersion: admissionregistration\.k8s\.io/v1\n    kind: (Validating|Mutating)AdmissionPolicy(Binding)?\n(    [^-E\n].*\n)*`)

var fence = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// TestYAML checks that the YAML files on all pages can be parsed.
func TestYAML(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		for _, block := range fence.FindAllStringSubmatch(read(t, page), -1) {
			for document := range strings.SplitSeq(block[1], "\n---\n") {
				found++
				if _, err := yaml.YAMLToJSONStrict([]byte(document)); err != nil {
					t.Errorf("%s: %v:\n%s", page, err, document)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no page has YAML")
	}
}

// TestManifests checks that the policies and bindings on all pages have no unknown fields.
func TestManifests(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		for _, document := range manifest.FindAllString(read(t, page), -1) {
			found++
			if _, _, err := decoder.Decode([]byte(strings.ReplaceAll(document, "\n    ", "\n")[4:]), nil, nil); err != nil {
				t.Errorf("%s: %v:\n%s", page, err, document)
			}
		}
	}
	if found == 0 {
		t.Error("no page has a manifest")
	}
}
