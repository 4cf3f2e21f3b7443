// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
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
