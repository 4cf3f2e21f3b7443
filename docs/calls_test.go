// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	callsTable = regexp.MustCompile(`(?m)^\| call \| what it does \|\n\| --- \| --- \|\n((?:\|.*\n)+)`)
	goName     = regexp.MustCompile("`((?:\\w+/)*)((?:\\w+\\.){1,2}\\w+)`")
)

// TestCalls checks that the functions and types that the tables of calls in architecture.md name
// exist, as package.function, package.Type, Type.method or package.Type.method. A name that is
// declared in several packages, or begins with the name of several packages, has as much of its
// package's import path as distinguishes it.
func TestCalls(t *testing.T) {
	tables := callsTable.FindAllStringSubmatch(read(t, "architecture.md"), -1)
	if len(tables) < 6 {
		t.Fatalf("architecture.md has %d tables of calls", len(tables))
	}
	declared := findDeclarations(t)
	for _, table := range tables {
		for line := range strings.Lines(table[1]) {
			call, _, _ := strings.Cut(strings.Trim(line, "| "), "|")
			if goName.FindString(call) == "" {
				t.Errorf("architecture.md has a call without a function: %s", call)
			}
			for _, found := range goName.FindAllStringSubmatch(line, -1) {
				parents, name := found[1], found[2]
				first, _, _ := strings.Cut(name, ".")
				var among []string
				for directory := range declared.names[name] {
					if strings.HasSuffix("/"+directory, "/"+parents+first) || parents == "" {
						among = append(among, directory)
					}
				}
				if parents == "" && len(declared.packages[first]) > 1 {
					among = slices.Collect(maps.Keys(declared.packages[first]))
				}
				if len(among) != 1 {
					t.Errorf("architecture.md names %s%s, which may be in the packages %v, want one", parents, name, among)
				}
			}
		}
	}
}

// A directorySet holds directories of packages.
type directorySet map[string]bool

// declarations holds the directories in which each function, method and type, and each package, is
// declared.
type declarations struct{ names, packages map[string]directorySet }

func findDeclarations(t *testing.T) declarations {
	t.Helper()
	found := declarations{map[string]directorySet{}, map[string]directorySet{}}
	add := func(to map[string]directorySet, name, directory string) {
		if to[name] == nil {
			to[name] = directorySet{}
		}
		to[name][directory] = true
	}
	parseSources(t, func(path string, file *ast.File) {
		directory := filepath.ToSlash(filepath.Dir(path))
		add(found.packages, file.Name.Name, directory)
		declare := func(name string) { add(found.names, file.Name.Name+"."+name, directory) }
		method := func(receiver, name string) {
			add(found.names, receiver+"."+name, directory)
			declare(receiver + "." + name)
		}
		for _, declaration := range file.Decls {
			switch declaration := declaration.(type) {
			case *ast.FuncDecl:
				if declaration.Recv == nil {
					declare(declaration.Name.Name)
				} else {
					method(receiverOf(declaration.Recv.List[0].Type), declaration.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range declaration.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						declare(spec.Name.Name)
						if embeds, ok := spec.Type.(*ast.StructType); ok {
							for _, field := range embeds.Fields.List {
								for _, name := range field.Names {
									if _, ok := field.Type.(*ast.FuncType); ok {
										method(spec.Name.Name, name.Name)
									}
								}
							}
						}
					}
				}
			}
		}
	})
	return found
}

// receiverOf returns the name of a receiver's type, without a pointer and type parameters.
func receiverOf(receiver ast.Expr) string {
	switch receiver := receiver.(type) {
	case *ast.StarExpr:
		return receiverOf(receiver.X)
	case *ast.IndexExpr:
		return receiverOf(receiver.X)
	case *ast.IndexListExpr:
		return receiverOf(receiver.X)
	case *ast.Ident:
		return receiver.Name
	}
	return ""
}
