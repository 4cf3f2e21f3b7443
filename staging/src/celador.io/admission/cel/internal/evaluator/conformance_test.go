// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cel.dev/expr"
	proto2pb "cel.dev/expr/conformance/proto2"
	proto3pb "cel.dev/expr/conformance/proto3"
	testpb "cel.dev/expr/conformance/test"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	"google.golang.org/protobuf/encoding/prototext"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// TestConformance checks the expressions of CEL's conformance tests, which are part of the module
// cel.dev/expr: once in Kubernetes' environment, and once in an environment with Kubernetes'
// options that also declares the types and libraries that the tests need.
func TestConformance(t *testing.T) {
	plain, err := cel.NewEnv(
		cel.Types(&proto2pb.TestAllTypes{}, &proto3pb.TestAllTypes{}),
		cel.OptionalTypes(), ext.Strings(ext.StringsVersion(2)), ext.Bindings(), ext.TwoVarComprehensions(), ext.Math(), ext.Encoders(), ext.Protos(),
		cel.DefaultUTCTimeZone(true),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		env     *cel.Env
		options []cel.ProgramOption
		// atLeast is the minimum number of expressions for which the evaluator returns a value.
		atLeast int
	}{
		{name: "Kubernetes", env: environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv(), atLeast: 1200},
		{name: "plain", env: plain, atLeast: 1650, options: []cel.ProgramOption{
			cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost), cel.CostLimit(celconfig.PerCallLimit),
			cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)), cel.CostTracking(&library.CostEstimator{}),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			suite := &conformance{base: newLanguage(c.env, c.options...)}
			for _, file := range conformanceFiles(t) {
				for _, section := range file.GetSection() {
					for _, test := range section.GetTest() {
						suite.run(t, test)
					}
				}
			}
			t.Logf("of %d expressions, %d compile, %d are planned and %d have a value", suite.total, suite.compiled, suite.planned, suite.values)
			if suite.values < c.atLeast {
				t.Errorf("only %d have a value without cel-go, want at least %d", suite.values, c.atLeast)
			}
		})
	}
}

// conformanceFiles returns the simple conformance tests of CEL's specification.
func conformanceFiles(t *testing.T) []*testpb.SimpleTestFile {
	t.Helper()
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "cel.dev/expr").Output()
	if err != nil {
		t.Fatalf("looking for the module of CEL's specification: %v", err)
	}
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(module)), "tests/simple/testdata/*.textproto"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no tests in %s (%v)", module, err)
	}
	slices.Sort(names)
	var files []*testpb.SimpleTestFile
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file := &testpb.SimpleTestFile{}
		if err := prototext.Unmarshal(content, file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files = append(files, file)
	}
	return files
}

// A conformance run counts the expressions that compile, that are planned, and for which the
// evaluator returns a value.
type conformance struct {
	base                             *language
	total, compiled, planned, values int
}

func (c *conformance) run(t *testing.T, test *testpb.SimpleTest) {
	t.Helper()
	c.total++
	in := bindings(c.base.CELTypeAdapter(), test)
	if in == nil {
		return
	}
	p := c.compile(test)
	if p == nil {
		return
	}
	c.compiled++
	if p.planned == nil {
		return
	}
	c.planned++
	if check(t, p, in) {
		c.values++
	}
}

// compile returns nil if the expression of the test does not compile in this environment.
func (c *conformance) compile(test *testpb.SimpleTest) *program {
	language := c.base
	var options []cel.EnvOption
	for _, declared := range test.GetTypeEnv() {
		option, err := cel.ProtoAsDeclaration(declared)
		if err != nil {
			return nil
		}
		options = append(options, option)
	}
	if test.GetContainer() != "" {
		options = append(options, cel.Container(test.GetContainer()))
	}
	if test.GetDisableMacros() {
		options = append(options, cel.ClearMacros())
	}
	if len(options) > 0 {
		env, err := c.base.Extend(options...)
		if err != nil {
			return nil
		}
		language = newLanguage(env, c.base.options...)
	}
	compile := language.Compile
	if test.GetDisableCheck() {
		compile = language.Parse
	}
	ast, issues := compile(test.GetExpr())
	if issues.Err() != nil {
		return nil
	}
	p, err := language.plan(test.GetExpr(), ast)
	if err != nil {
		return nil
	}
	return p
}

// bindings returns nil if a bound value has no CEL representation.
func bindings(adapter types.Adapter, test *testpb.SimpleTest) *input {
	in := &input{names: map[string]any{}}
	for name, bound := range test.GetBindings() {
		switch kind := bound.GetKind().(type) {
		case *expr.ExprValue_Value:
			value, err := cel.ProtoAsValue(adapter, kind.Value)
			if err != nil {
				return nil
			}
			in.names[name] = value
		case *expr.ExprValue_Error:
			in.names[name] = types.NewErr("%v", kind.Error)
		default:
			in.names[name] = types.NewUnknown(1, nil)
		}
	}
	return in
}
