// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	quoted = regexp.MustCompile("`([A-Za-z0-9_./-]+)`")
	// workspaceModule matches the directory of a staging module in go.work.
	workspaceModule = regexp.MustCompile(`(?m)^\t\./(staging/\S+)$`)
	// arrows matches the arrows that start at one module in a picture.
	arrows = regexp.MustCompile(`(?m)^  (\S+) --> (.+)$`)
	// requirement matches a direct requirement of one of the project's modules.
	requirement = regexp.MustCompile(`(?m)^\tcelador\.io/(\S+) v[0-9.]+$`)
	moduleLine  = regexp.MustCompile(`(?m)^module (\S+)$`)
)

// TestPackagesOfModules checks that the README of each staging module lists the packages of the
// module in the order of their imports: a package stands above those that it imports. A row that
// ends in /... is about all packages below a directory.
func TestPackagesOfModules(t *testing.T) {
	for _, module := range stagingModules(t) {
		t.Run(filepath.Base(module), func(t *testing.T) {
			page := filepath.Join(module, "README.md")
			imports := packageImports(t, module)
			delete(imports, ".") // the page as a whole describes it
			rowOf := map[string]int{}
			for i, row := range tableRows(t, page, "Packages") {
				for _, found := range quoted.FindAllStringSubmatch(row[0], -1) {
					packages := covered(imports, found[1])
					if len(packages) == 0 {
						t.Errorf("%s lists %s, which is not a package of the module", page, found[1])
					}
					for _, name := range packages {
						rowOf[name] = i
					}
				}
			}
			for _, importer := range slices.Sorted(maps.Keys(imports)) {
				row, listed := rowOf[importer]
				if !listed {
					t.Errorf("%s does not list %s", page, importer)
					continue
				}
				for _, name := range imports[importer] {
					if other, listed := rowOf[name]; listed && other < row {
						t.Errorf("%s lists %s below %s, which it imports", page, importer, name)
					}
				}
			}
		})
	}
}

// TestLayout checks that the layout in CONTRIBUTING.md has every package of the root module and
// every other module. A path is in the first column, or the description of a path above it names
// it.
func TestLayout(t *testing.T) {
	const page = "../CONTRIBUTING.md"
	packages := packageImports(t, "..")
	listed := map[string]bool{}
	for _, row := range tableRows(t, page, "Layout") {
		for _, path := range quoted.FindAllStringSubmatch(row[0], -1) {
			names := []string{path[1]}
			for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
				names = append(names, filepath.Join(path[1], name[1]), name[1])
			}
			for _, name := range names {
				listed[name] = true
				for _, found := range covered(packages, name) {
					listed[found] = true
				}
			}
			if _, err := os.Stat(filepath.Join("..", strings.TrimSuffix(path[1], "/..."))); err != nil {
				t.Errorf("%s lists %s: %v", page, path[1], err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !listed[name] {
			t.Errorf("%s does not list the package %s", page, name)
		}
	}
	for _, module := range modules(t) {
		if !listed[module] && module != "." {
			t.Errorf("%s does not list the module %s", page, module)
		}
	}
}

// TestModules checks that README.md describes every module of the workspace, and that its replace
// directives name all of them.
func TestModules(t *testing.T) {
	const page = "../README.md"
	text := read(t, page)
	var described []string
	for _, row := range tableRows(t, page, "The modules alone") {
		described = append(described, quoted.FindStringSubmatch(row[0])[1])
	}
	staging := stagingModules(t)
	for _, module := range append([]string{".."}, staging...) {
		name := moduleLine.FindStringSubmatch(read(t, filepath.Join(module, "go.mod")))[1]
		if !slices.Contains(described, name) {
			t.Errorf("%s does not describe the module %s", page, name)
		}
		dir, err := filepath.Rel("..", module)
		if err != nil {
			t.Fatal(err)
		}
		replace := regexp.MustCompile(`(?m)^    replace ` + regexp.QuoteMeta(name) + ` +=> ` + regexp.QuoteMeta(filepath.Join("../celador", dir)) + `$`)
		if !replace.MatchString(text) {
			t.Errorf("%s has no replace directive for the module %s", page, name)
		}
	}
	if want := len(staging) + 1; len(described) != want {
		t.Errorf("%s describes %d modules; the workspace has %d", page, len(described), want)
	}
}

// TestPictureOfModules checks that the arrows between modules in architecture.md are the
// requirements of their go.mod files.
func TestPictureOfModules(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "architecture.md"), "\n## Modules\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var drawn, required []string
	for _, found := range arrows.FindAllStringSubmatch(text, -1) {
		for to := range strings.SplitSeq(found[2], " & ") {
			drawn = append(drawn, found[1]+" requires "+to)
		}
	}
	for _, module := range append([]string{".."}, stagingModules(t)...) {
		text := read(t, filepath.Join(module, "go.mod"))
		for _, found := range requirement.FindAllStringSubmatch(text, -1) {
			required = append(required, filepath.Base(moduleLine.FindStringSubmatch(text)[1])+" requires "+found[1])
		}
	}
	slices.Sort(drawn)
	slices.Sort(required)
	if diff := cmp.Diff(drawn, required); diff != "" {
		t.Errorf("arrows (-architecture.md +go.mod):\n%s", diff)
	}
}

// stagingModules returns the directories of the modules that go.work names, except for the root
// module.
func stagingModules(t *testing.T) (dirs []string) {
	t.Helper()
	for _, found := range workspaceModule.FindAllStringSubmatch(read(t, "../go.work"), -1) {
		dirs = append(dirs, filepath.Join("..", found[1]))
	}
	if len(dirs) == 0 {
		t.Fatal("go.work names no staging modules")
	}
	return dirs
}

// modules returns the paths from the root of the repository to all of its go.mod files'
// directories.
func modules(t *testing.T) (dirs []string) {
	t.Helper()
	walk(t, "..", func(path string, entry fs.DirEntry) error {
		if entry.Name() == "go.mod" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return nil
	})
	return dirs
}

// packageImports returns the packages of the module in a directory, by their paths from there, with
// the packages of the module that they import outside of their tests.
func packageImports(t *testing.T, root string) map[string][]string {
	t.Helper()
	module := moduleLine.FindStringSubmatch(read(t, filepath.Join(root, "go.mod")))[1]
	packages := map[string][]string{}
	walk(t, root, func(path string, entry fs.DirEntry) error {
		if entry.IsDir() && path != "." {
			if _, err := os.Stat(filepath.Join(root, path, "go.mod")); err == nil || entry.Name() == "testdata" {
				return fs.SkipDir
			}
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		dir := filepath.Dir(path)
		if _, found := packages[dir]; !found {
			packages[dir] = nil
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if inModule, ok := strings.CutPrefix(imported, module+"/"); ok && !slices.Contains(packages[dir], inModule) {
				packages[dir] = append(packages[dir], inModule)
			}
		}
		return nil
	})
	return packages
}

// walk calls visit with the files and directories below root, by their paths from there, except for
// what the build writes and what npm installs.
func walk(t *testing.T, root string, visit func(path string, entry fs.DirEntry) error) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_") || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		return visit(path, entry)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// covered returns the packages that a name in a table stands for.
func covered(packages map[string][]string, name string) (found []string) {
	dir, all := strings.CutSuffix(name, "/...")
	for path := range packages {
		if path == dir || all && strings.HasPrefix(path, dir+"/") {
			found = append(found, path)
		}
	}
	return found
}

// tableRows returns the cells of the rows of the first table under a heading of a page.
func tableRows(t *testing.T, page, heading string) (rows [][]string) {
	t.Helper()
	text := read(t, page)
	found := regexp.MustCompile(`(?m)^#+ ` + regexp.QuoteMeta(heading) + `$`).FindStringIndex(text)
	if found == nil {
		t.Fatalf("%s has no heading %q", page, heading)
	}
	for line := range strings.SplitSeq(text[found[1]:], "\n") {
		if !strings.HasPrefix(line, "| ") {
			if len(rows) > 0 || strings.HasPrefix(line, "#") {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("%s has no table under %q", page, heading)
	}
	return rows[2:] // after the header
}
