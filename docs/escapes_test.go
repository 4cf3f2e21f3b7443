// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// escaped matches the escapes of names in rules of CustomResourceDefinitions.
	escaped = regexp.MustCompile(`__(dot|dash|slash|underscores|true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return|var|void|while)__`)
	// unordered matches claims that the order of lists does not matter, which holds in such rules
	// alone.
	unordered = regexp.MustCompile(`(?i)(without regard to|regardless of|ignor\w+ the|no matter the) order|order of (items|elements|the items) does not matter|forms the union|merges by key`)
)

// TestEscapes checks that neither pages nor descriptions of fields, which kubectl explain shows,
// say that expressions of policies escape names or compare lists without regard to order. Only
// those about rules of CustomResourceDefinitions do.
func TestEscapes(t *testing.T) {
	for _, pattern := range []string{"*.md", "../*.md", "../staging/src/celador.io/*/*.md", "../examples/*/*.yaml", "../examples/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			text := read(t, page)
			switch {
			case strings.HasPrefix(filepath.Base(page), "custom-resources"), strings.Contains(text, "kind: CustomResourceDefinition"):
				continue // about rules
			case filepath.Base(page) == "CHANGELOG.md":
				continue // about the past
			}
			for paragraph := range strings.SplitSeq(text, "\n\n") {
				checkClaims(t, page, paragraph)
			}
		}
	}
	documents, err := filepath.Glob("../api/openapi-spec/v3/apis__admissionregistration.k8s.io__*.json")
	if err != nil || len(documents) == 0 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	for _, path := range documents {
		var document struct {
			Components struct{ Schemas map[string]any }
		}
		if err := json.Unmarshal([]byte(read(t, path)), &document); err != nil {
			t.Fatal(err)
		}
		found := false
		for name, schema := range document.Components.Schemas {
			if !strings.Contains(name, "admissionregistration") {
				continue
			}
			visitDescriptions(name, schema, func(field, description string) {
				for paragraph := range strings.SplitSeq(description, "\n\n") {
					checkClaims(t, path+" "+field, paragraph)
				}
				found = found || strings.Contains(description, "object.spec.`x-prop`")
			})
		}
		if strings.HasSuffix(path, "__v1_openapi.json") && !found {
			t.Errorf("%s: no description says how to read x-prop", path)
		}
	}
}

// checkClaims reports escapes and claims about order in a paragraph that does not deny them.
func checkClaims(t *testing.T, where, paragraph string) {
	t.Helper()
	if match := escaped.FindString(paragraph); match != "" && !strings.Contains(paragraph, "not escaped") {
		t.Errorf("%s: policies do not read %s, but the text is:\n%s", where, match, paragraph)
	}
	if match := unordered.FindString(paragraph); match != "" {
		t.Errorf("%s: policies compare lists with regard to order, but the text says %q:\n%s", where, match, paragraph)
	}
}

// visitDescriptions calls visit with the path and the description of a schema and of all schemas in
// it.
func visitDescriptions(path string, schema any, visit func(path, description string)) {
	switch s := schema.(type) {
	case map[string]any:
		if description, ok := s["description"].(string); ok {
			visit(path, description)
		}
		for key, value := range s {
			visitDescriptions(path+"."+key, value, visit)
		}
	case []any:
		for _, value := range s {
			visitDescriptions(path, value, visit)
		}
	}
}
