// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package panics_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/cel-go/interpreter"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"celador.io/admission/panics"
)

func recovered(of panics.Component) (n uint64) {
	panics.Counts(func(component panics.Component, recovered uint64) {
		if component == of {
			n = recovered
		}
	})
	return n
}

func explode() { panic(errors.New("no luck")) }

// Each panic counts. One of many is logged, with the stack of the panic.
func TestRecord(t *testing.T) {
	var log bytes.Buffer
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))))
	t.Cleanup(klog.ClearLogger)
	before := recovered(panics.Schema)
	for range 1000 {
		func() {
			defer func() {
				if cause := recover(); cause != nil {
					panics.Record(panics.Schema, cause, "expression", "1 / 0")
				}
			}()
			explode()
		}()
	}
	if got := recovered(panics.Schema) - before; got != 1000 {
		t.Errorf("counted %d panics, want 1000", got)
	}
	if got := strings.Count(log.String(), "Recovered from a panic"); got != 1 {
		t.Errorf("logged %d lines, want 1:\n%s", got, &log)
	}
	for _, want := range []string{"no luck", "panics_test.explode", `expression="1 / 0"`, `component="schema"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, &log)
		}
	}
}

// Each panic of an expression counts. The first one of each component is logged, whatever was
// logged before.
func TestRecorder(t *testing.T) {
	var log bytes.Buffer
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))))
	t.Cleanup(klog.ClearLogger)
	before := recovered(panics.Evaluator)
	for _, source := range []string{"first", "second"} {
		recorder := panics.Recorder{Source: source}
		for range 3 {
			recorder.Record(panics.Evaluator, "no luck", debug.Stack)
			recorder.Record(panics.Interpreter, "no luck", debug.Stack)
			recorder.Record(panics.Evaluator, interpreter.EvalCancelledError{}, debug.Stack)
		}
		for _, component := range []string{"evaluator", "interpreter"} {
			if want := `expression="` + source + `" component="` + component + `"`; strings.Count(log.String(), want) != 1 {
				t.Errorf("the log does not have %s once:\n%s", want, &log)
			}
		}
	}
	if got := recovered(panics.Evaluator) - before; got != 6 {
		t.Errorf("counted %d panics, want 6", got)
	}
}

// silent lists the functions that recover panics which they raise themselves, or whose panics the
// user of a tool sees.
var silent = map[string]string{
	"admission/cel/internal/evaluator/closures.go": "package programs records the panic, unless cel-go panics, too",
	"admission/cel/internal/evaluator/planner.go":  "the planner's own panics, all others are raised again",
	"admission/cel/internal/programs/panic.go":     "it evaluates a recorded panic once more, for the stack",
	"admission/cel/parser/parser.go":               "the parser's own panics, all others are raised again",
	"offline/suite/run.go":                         "the report of the tool has the panic",
	"offline/cluster/serve.go":                     "the report of the tool has the panic",
	"offline/playground/handler.go":                "the response has the panic",
	"offline/playground/evaluate.go":               "the handler has the panic",
	"../../../pkg/localserver/etcdcheck.go":        "the error of celador serve has the panic",
}

// TestEveryRecoverLeavesATrace finds the functions in all modules that call recover, and not
// Record.
func TestEveryRecoverLeavesATrace(t *testing.T) {
	found := map[string]bool{}
	for _, root := range []string{"../../admission", "../../apiextensions-apiserver", "../../apiserver", "../../offline", "../../polyfill", "../../../../../pkg", "../../../../../plugin", "../../../../../cmd"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			name, err := filepath.Rel("../..", path)
			if err != nil {
				return err
			}
			for _, declaration := range file.Decls {
				if !calls(declaration, "recover") {
					continue
				}
				found[name] = true
				if _, ok := silent[name]; !ok && !calls(declaration, "Record") {
					t.Errorf("%s recovers a panic without a trace: call panics.Record", name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range silent {
		if !found[name] {
			t.Errorf("%s recovers no panic: remove it from the list", name)
		}
	}
}

// calls reports whether a declaration calls a function or method with the name.
func calls(declaration ast.Decl, name string) (found bool) {
	ast.Inspect(declaration, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			switch function := call.Fun.(type) {
			case *ast.Ident:
				found = found || function.Name == name
			case *ast.SelectorExpr:
				found = found || function.Sel.Name == name
			}
		}
		return !found
	})
	return found
}
