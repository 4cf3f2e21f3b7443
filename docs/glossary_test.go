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
	glossaryType = regexp.MustCompile("`([a-z0-9/-]+\\.[A-Z]\\w*)`")
	nameWord     = regexp.MustCompile(`[A-Z]+[a-z0-9]*`)
)

// TestGlossary checks that each exported type whose name begins or ends with a word of the glossary
// is listed there, under that word, and that the listed types exist. A type with a new meaning of a
// word needs another name. The longest words count: TypeConverter is a type converter, and no
// converter. A listed type has as much of its package's path as distinguishes it.
func TestGlossary(t *testing.T) {
	_, section, ok := strings.Cut(read(t, "architecture.md"), "\n## Glossary\n")
	if !ok {
		t.Fatal("architecture.md has no section Glossary")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	declared := exportedTypes(t)
	// listed holds the declared types under each word.
	listed := map[string]map[string]bool{}
	for _, row := range glossaryRow.FindAllStringSubmatch(section, -1) {
		word := row[1]
		if listed[word] != nil {
			t.Errorf("the glossary has %q twice", word)
		}
		listed[word] = map[string]bool{}
		for _, found := range glossaryType.FindAllStringSubmatch(row[2], -1) {
			var types []string
			for _, name := range declared {
				if strings.HasSuffix("/"+name, "/"+found[1]) {
					types = append(types, name)
					listed[word][name] = true
				}
			}
			if len(types) != 1 {
				t.Errorf("the glossary lists %s for %q, which is the name of the types %v, want one", found[1], word, types)
			}
		}
	}
	if len(listed) < 30 {
		t.Fatalf("the glossary has %d words", len(listed))
	}
	for _, name := range declared {
		words := nameWord.FindAllString(name[strings.LastIndex(name, ".")+1:], -1)
		found := map[string]bool{}
		for _, phrases := range [][]string{beginnings(words), endings(words)} {
			if i := slices.IndexFunc(phrases, func(phrase string) bool { return listed[phrase] != nil }); i >= 0 {
				found[phrases[i]] = true
			}
		}
		for word := range found {
			if !listed[word][name] {
				t.Errorf("the name of %s has the word %q of the glossary: give it another name, or list it if it has the meaning of the word", name, word)
			}
		}
		for word, types := range listed {
			if types[name] && !found[word] {
				t.Errorf("the glossary lists %s for %q, with which its name neither begins nor ends", name, word)
			}
		}
	}
}

// beginnings returns what a name of several words begins with, in lower case, in the plural and in
// the singular, the longest first.
func beginnings(words []string) (phrases []string) {
	for n := len(words); n > 0; n-- {
		phrase := strings.ToLower(strings.Join(words[:n], " "))
		phrases = append(phrases, phrase, singular(phrase))
	}
	return phrases
}

// endings is beginnings for what a name ends with.
func endings(words []string) (phrases []string) {
	for n := range words {
		phrase := strings.ToLower(strings.Join(words[n:], " "))
		phrases = append(phrases, phrase, singular(phrase))
	}
	return phrases
}

// singular returns the singular of a plural of the glossary's words.
func singular(plural string) string {
	if stem, ok := strings.CutSuffix(plural, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(plural, "s")
}

// exportedTypes returns the exported types of the packages that are neither for tests nor
// generated, as directory.Type.
func exportedTypes(t *testing.T) (declared []string) {
	t.Helper()
	parseSources(t, func(path string, file *ast.File) {
		// The API's types have the names of its fields.
		if strings.Contains(path, "celador.io/api/") || strings.Contains(path, "/pkg/apis/admissionregistration/") || ast.IsGenerated(file) {
			return
		}
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() {
					declared = append(declared, filepath.ToSlash(filepath.Dir(path))+"."+spec.Name.Name)
				}
			}
		}
	})
	return declared
}

// parseSources calls visit with the Go files of all packages that are not for tests alone.
func parseSources(t *testing.T, visit func(path string, file *ast.File)) {
	t.Helper()
	for _, dir := range []string{"../cmd", "../plugin", "../pkg", "../staging"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err == nil {
				visit(filepath.ToSlash(path), file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
