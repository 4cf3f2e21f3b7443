// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link      = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInSlug = regexp.MustCompile(`[^\pL\pN_ -]`)
	path      = regexp.MustCompile("`([a-z][A-Za-z0-9_.-]*/[A-Za-z0-9_./-]+)`")
	testName  = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*)`")
	testFunc  = regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9]*)\(`)
)

// TestLinks checks that the files and headings that pages link to exist.
func TestLinks(t *testing.T) {
	for _, pattern := range []string{"*.md", "../*.md", "../staging/src/celador.io/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
		}
		for _, page := range pages {
			for _, found := range link.FindAllStringSubmatch(read(t, page), -1) {
				path, fragment := found[1], found[2]
				if strings.Contains(path, "://") {
					continue
				}
				target := page
				if path != "" {
					target = filepath.Join(filepath.Dir(page), path)
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s links to %s: %v", page, found[0], err)
				} else if fragment != "" && !hasHeading(read(t, target), fragment) {
					t.Errorf("%s links to %s, and %s has no such heading", page, found[0], target)
				}
			}
		}
	}
}

// hasHeading reports whether a page has a heading to which GitHub gives the fragment.
func hasHeading(page, fragment string) bool {
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		if strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-") == fragment {
			return true
		}
	}
	return false
}

// TestNamesOfFilesAndTests checks that the files, directories and tests that the pages for
// contributors name exist. Paths start at the root of the repository or of the engine's module.
func TestNamesOfFilesAndTests(t *testing.T) {
	tests := testFunctions(t)
	for _, page := range []string{"architecture.md", "../CONTRIBUTING.md"} {
		text := read(t, page)
		for _, found := range testName.FindAllStringSubmatch(text, -1) {
			if !tests[found[1]] {
				t.Errorf("%s names %s, which does not exist", page, found[1])
			}
		}
		// TestCalls checks the names in the tables of calls.
		for _, found := range path.FindAllStringSubmatch(callsTable.ReplaceAllString(text, ""), -1) {
			if glossaryType.MatchString(found[0]) {
				continue
			}
			name := strings.TrimSuffix(found[1], "/...")
			if root, _, _ := strings.Cut(name, "/"); strings.Contains(root, ".") || root == "bin" {
				continue // an import path, or a product of the build
			}
			_, err := os.Stat(filepath.Join("..", name))
			_, engineErr := os.Stat(filepath.Join("../staging/src/celador.io/admission", name))
			if err != nil && engineErr != nil {
				t.Errorf("%s names %s, which does not exist", page, name)
			}
		}
	}
}

// testFunctions returns the names of the tests in the repository.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, found := range testFunc.FindAllStringSubmatch(read(t, path), -1) {
			tests[found[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
