// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	glossaryRow  = regexp.MustCompile(`(?m)^\| ([a-z ]+) \| .* \|(.*)\|$`)
	glossaryType = regexp.MustCompile("`([a-z0-9]+\\.[A-Z]\\w*)`")
)

// TestGlossary checks that each exported type whose name is a word of the glossary is listed there,
// under that word, and that the listed types exist. A type with a new meaning of a word needs
// another name.
func TestGlossary(t *testing.T) {
	_, section, ok := strings.Cut(read(t, "architecture.md"), "\n## Glossary\n")
	if !ok {
		t.Fatal("architecture.md has no section Glossary")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string][]string{}
	for _, row := range glossaryRow.FindAllStringSubmatch(section, -1) {
		word := row[1]
		if _, ok := listed[word]; ok {
			t.Errorf("the glossary has %q twice", word)
		}
		listed[word] = []string{}
		for _, found := range glossaryType.FindAllStringSubmatch(row[2], -1) {
			listed[word] = append(listed[word], found[1])
		}
	}
	if len(listed) < 30 {
		t.Fatalf("the glossary has %d words", len(listed))
	}
	declared := exportedTypes(t)
	for word, types := range listed {
		for _, name := range types {
			if _, base, _ := strings.Cut(name, "."); !declared[name] || !strings.EqualFold(base, word) {
				t.Errorf("the glossary lists %s for %q, which is no exported type of that name", name, word)
			}
		}
	}
	for name := range declared {
		_, base, _ := strings.Cut(name, ".")
		types, ok := listed[strings.ToLower(base)]
		if !ok {
			types, ok = listed[singular(strings.ToLower(base))]
		}
		if ok && !slices.Contains(types, name) {
			t.Errorf("%s has the name of a word of the glossary: give it another name, or list it if it has the meaning of the word", name)
		}
	}
}

// singular returns the singular of a plural of the glossary's words.
func singular(plural string) string {
	if stem, ok := strings.CutSuffix(plural, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(plural, "s")
}

// exportedTypes returns the exported types of the packages that are neither for tests nor
// generated, as package.Type.
func exportedTypes(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	for _, dir := range []string{"../cmd", "../plugin", "../pkg", "../staging"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil || ast.IsGenerated(file) {
				return err
			}
			// The API's types have the names of its fields.
			if slash := filepath.ToSlash(path); strings.Contains(slash, "celador.io/api/") || strings.Contains(slash, "/pkg/apis/") {
				return nil
			}
			for _, declaration := range file.Decls {
				group, ok := declaration.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, spec := range group.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() {
						declared[file.Name.Name+"."+spec.Name.Name] = true
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return declared
}
