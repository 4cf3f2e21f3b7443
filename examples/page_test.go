// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

var (
	// manifests matches the manifests in the commands of a page.
	manifests = regexp.MustCompile(`(?s)<<'EOF'\n(.*?)\nEOF\n`)
	// output matches the last line that the page shows.
	output = regexp.MustCompile(`(?m)^    (\{.*\})$`)
)

// TestPage converts the object of the first example in docs/custom-resources.md.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/custom-resources.md")
	if err != nil {
		t.Fatal(err)
	}
	found, shown := manifests.FindAllSubmatch(page, 2), output.FindSubmatch(page)
	if len(found) != 2 || shown == nil {
		t.Fatalf("%d manifests, output %q", len(found), shown)
	}
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "definition.yaml"), found[0][1], 0o600); err != nil {
		t.Fatal(err)
	}
	d := load(t, directory)
	if errs, warnings := conversion.Validate(field.NewPath("spec", "conversion"), d.conversion(), nil); len(errs) > 0 || len(warnings) > 0 {
		t.Fatalf("got errors %v, warnings %q", errs, warnings)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(found[1][1], &object.Object); err != nil {
		t.Fatal(err)
	}
	var want any
	if err := yaml.Unmarshal(shown[1], &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d.converter().convert(t, object, "v1").Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}
