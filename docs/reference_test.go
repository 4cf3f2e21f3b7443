// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs checks the documentation against the code.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1alpha1"
	"celador.io/api/admissionregistration/v1beta1"
	apiextensionsv1 "celador.io/api/apiextensions/v1"

	_ "celador.io/celador/pkg/features"
)

func TestFields(t *testing.T) {
	want := cells(t, "Fields", 0, 1)
	for version, kinds := range map[string][]runtime.Object{
		"v1":       {&v1.ValidatingAdmissionPolicy{}, &v1.ValidatingAdmissionPolicyBinding{}, &v1.MutatingAdmissionPolicy{}, &v1.MutatingAdmissionPolicyBinding{}},
		"v1beta1":  {&v1beta1.ValidatingAdmissionPolicy{}, &v1beta1.ValidatingAdmissionPolicyBinding{}, &v1beta1.MutatingAdmissionPolicy{}, &v1beta1.MutatingAdmissionPolicyBinding{}},
		"v1alpha1": {&v1alpha1.ValidatingAdmissionPolicy{}, &v1alpha1.ValidatingAdmissionPolicyBinding{}, &v1alpha1.MutatingAdmissionPolicy{}, &v1alpha1.MutatingAdmissionPolicyBinding{}},
	} {
		var got []string
		for _, kind := range kinds {
			kind := reflect.TypeOf(kind).Elem()
			for _, path := range ownFields(t, kind, "") {
				got = append(got, kind.Name()+" "+path)
			}
		}
		compare(t, version, want, got)
	}
}

func TestFieldsOfDefinitions(t *testing.T) {
	compare(t, "fields", cells(t, "Fields of custom resource definitions", 0), ownFields(t, reflect.TypeFor[apiextensionsv1.CustomResourceDefinition](), ""))
}

// ownFields returns the paths of the fields whose protobuf numbers start at 1000, without the
// fields inside them. In schemas, which contain schemas, it lists only the fields of the outermost
// one.
func ownFields(t *testing.T, in reflect.Type, path string) (own []string) {
	for i := range in.NumField() {
		field := in.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		at, inner := strings.TrimPrefix(path+"."+name, "."), field.Type
		if name == "" {
			at = path
		}
		if tag := strings.Split(field.Tag.Get("protobuf"), ","); len(tag) > 1 {
			number, err := strconv.Atoi(tag[1])
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			if number >= 1000 {
				own = append(own, at)
				continue
			}
		}
		if inner.Kind() == reflect.Slice {
			at, inner = at+"[]", inner.Elem()
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		recursive := in == reflect.TypeFor[apiextensionsv1.JSONSchemaProps]()
		if inner.Kind() == reflect.Struct && strings.HasPrefix(inner.PkgPath(), "celador.io/") && !recursive {
			own = append(own, ownFields(t, inner, at)...)
		}
	}
	return own
}

func TestFeatureGates(t *testing.T) {
	stages := utilfeature.DefaultMutableFeatureGate.GetAllVersioned()
	var got []string
	list := func(_ map[string]string, node ast.Node) {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return
		}
		name := spec.Names[0].Name
		for gate, versions := range stages {
			if string(gate) != name {
				continue
			}
			now, state := versions[len(versions)-1], "off"
			if now.Default {
				state = "on"
			}
			stage := string(now.PreRelease)
			if stage == "" {
				stage = "GA"
			}
			got = append(got, strings.Join([]string{name, stage, state, now.Version.String()}, " "))
		}
	}
	for _, dir := range []string{"../staging/src/celador.io/apiserver/pkg/features", "../staging/src/celador.io/apiextensions-apiserver/pkg/features"} {
		inspect(t, dir, list)
	}
	compare(t, "gates", cells(t, "Feature gates", 0, 1, 2, 3), got)
}

func TestMetrics(t *testing.T) {
	var got []string
	for _, dir := range []string{"../plugin", "../pkg", "../staging"} {
		inspect(t, dir, func(constants map[string]string, node ast.Node) {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return
			}
			if name, labels, ok := metric(constants, call); ok {
				if slices.Contains(append(labels, name), "") {
					t.Fatalf("the name or labels of the metric %q %q are not constants of its package", name, labels)
				}
				got = append(got, name+" "+strings.Join(labels, ", "))
			}
		})
	}
	compare(t, "metrics", cells(t, "Metrics", 0, 2), got)
}

var constructor = regexp.MustCompile(`^New(Counter|Gauge|Histogram|Summary|TimingHistogram)(Vec)?$`)

// metric returns the name and labels of the metric that a call of package metrics makes, with
// an empty string for each value that is not constant.
func metric(constants map[string]string, call *ast.CallExpr) (name string, labels []string, ok bool) {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return "", nil, false
	}
	if in, ok := function.X.(*ast.Ident); !ok || in.Name != "metrics" {
		return "", nil, false
	}
	text := func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			value, _ := strconv.Unquote(e.Value)
			return value
		case *ast.Ident:
			return constants[e.Name]
		}
		return ""
	}
	labelsIn := func(position int) {
		if len(call.Args) <= position {
			return
		}
		if list, ok := call.Args[position].(*ast.CompositeLit); ok {
			for _, label := range list.Elts {
				labels = append(labels, text(label))
			}
		}
	}
	switch {
	case function.Sel.Name == "NewDesc":
		if named, ok := call.Args[0].(*ast.CallExpr); ok && len(named.Args) == 3 {
			name = fullName(text(named.Args[0]), text(named.Args[1]), text(named.Args[2]))
		}
		labelsIn(2)
		return name, labels, true
	case constructor.MatchString(function.Sel.Name):
		parts := map[string]string{}
		ast.Inspect(call.Args[0], func(node ast.Node) bool {
			if pair, ok := node.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.Ident); ok {
					parts[key.Name] = text(pair.Value)
				}
			}
			return true
		})
		labelsIn(1)
		return fullName(parts["Namespace"], parts["Subsystem"], parts["Name"]), labels, true
	}
	return "", nil, false
}

func fullName(namespace, subsystem, name string) string {
	if name == "" {
		return ""
	}
	return strings.TrimLeft(strings.Join([]string{namespace, subsystem, name}, "_"), "_")
}

// TestNames checks that each name occurs in a string of the code.
func TestNames(t *testing.T) {
	var all []string
	for _, dir := range []string{"../cmd", "../plugin", "../pkg", "../staging"} {
		inspect(t, dir, func(_ map[string]string, node ast.Node) {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				value, _ := strconv.Unquote(literal.Value)
				all = append(all, value)
			}
		})
	}
	for _, row := range cells(t, "Other names", 0) {
		for name := range strings.SplitSeq(row, ", ") {
			if !slices.Contains(all, name) {
				t.Errorf("no string of the code is %q", name)
			}
		}
	}
}

// inspect calls visit with the nodes of all files of a directory and its subdirectories that
// are neither tests nor generated, and with the string constants of their packages.
func inspect(t *testing.T, dir string, visit func(constants map[string]string, node ast.Node)) {
	t.Helper()
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && !ast.IsGenerated(file) {
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range packages {
		constants := map[string]string{}
		for _, file := range files {
			ast.Inspect(file, func(node ast.Node) bool {
				if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
					if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
						constants[spec.Names[0].Name], _ = strconv.Unquote(literal.Value)
					}
				}
				return true
			})
		}
		for _, file := range files {
			ast.Inspect(file, func(node ast.Node) bool {
				visit(constants, node)
				return true
			})
		}
	}
}

// cells returns some columns of the first table in a section of the reference, without the
// backquotes, as one string for each row.
func cells(t *testing.T, section string, columns ...int) (rows []string) {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "reference.md"), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("the reference has no section %q", section)
	}
	inTable := false
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "| ") {
			if inTable {
				break
			}
			continue
		}
		inTable = true
		row := strings.Split(strings.Trim(line, "|"), "|")
		var picked []string
		for _, column := range columns {
			picked = append(picked, strings.TrimSpace(strings.ReplaceAll(row[column], "`", "")))
		}
		rows = append(rows, strings.Join(picked, " "))
	}
	return rows[2:] // after the header
}

func compare(t *testing.T, what string, page, code []string) {
	t.Helper()
	slices.Sort(page)
	slices.Sort(code)
	if diff := cmp.Diff(page, code); diff != "" {
		t.Errorf("%s (-docs/reference.md +code):\n%s", what, diff)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
