// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

var (
	callsTable = regexp.MustCompile(`(?m)^\| call \| what it does \|\n\| --- \| --- \|\n((?:\|.*\n)+)`)
	goName     = regexp.MustCompile("`((?:\\w+\\.){1,2}\\w+)`")
)

// TestCalls checks that the functions and types that the tables of calls in architecture.md name
// exist, as package.function, package.Type, Type.method or package.Type.method.
func TestCalls(t *testing.T) {
	tables := callsTable.FindAllStringSubmatch(read(t, "architecture.md"), -1)
	if len(tables) < 6 {
		t.Fatalf("architecture.md has %d tables of calls", len(tables))
	}
	declared := declaredNames(t)
	for _, table := range tables {
		for line := range strings.Lines(table[1]) {
			call, _, _ := strings.Cut(strings.Trim(line, "| "), "|")
			if goName.FindString(call) == "" {
				t.Errorf("architecture.md has a call without a function: %s", call)
			}
			for _, found := range goName.FindAllStringSubmatch(line, -1) {
				if !declared[found[1]] {
					t.Errorf("architecture.md names %s, which does not exist", found[1])
				}
			}
		}
	}
}

// declaredNames returns the names of the functions, methods and types of all packages.
func declaredNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	parseSources(t, func(_ string, file *ast.File) {
		method := func(receiver, name string) {
			names[receiver+"."+name], names[file.Name.Name+"."+receiver+"."+name] = true, true
		}
		for _, declaration := range file.Decls {
			switch declaration := declaration.(type) {
			case *ast.FuncDecl:
				if declaration.Recv == nil {
					names[file.Name.Name+"."+declaration.Name.Name] = true
				} else {
					method(receiverOf(declaration.Recv.List[0].Type), declaration.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range declaration.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						names[file.Name.Name+"."+spec.Name.Name] = true
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
	return names
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
