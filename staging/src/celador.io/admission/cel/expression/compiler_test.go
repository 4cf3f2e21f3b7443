// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
)

const (
	fresh  = environment.NewExpressions
	stored = environment.StoredExpressions
)

var (
	nothing    = expression.Declarations{}
	params     = expression.Declarations{Params: true}
	authz      = expression.Declarations{Authorizer: true}
	everything = expression.Declarations{Params: true, Authorizer: true}
)

// wantError checks an error's type, and its text up to the excerpt of the source.
func wantError(t *testing.T, err *apiservercel.Error, wantType apiservercel.ErrorType, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	got, _, _ := strings.Cut(err.Detail, "\n | ")
	if err.Type != wantType || got != want {
		t.Errorf("got %s %q\nwant %s %q", err.Type, got, wantType, want)
	}
}

func TestCompile(t *testing.T) {
	for source, output := range map[string]*cel.Type{
		"true":                                cel.BoolType,
		"object.spec.replicas <= 5":           cel.BoolType,
		"object.spec.replicas":                cel.DynType,
		"oldObject == null":                   cel.BoolType,
		"request.name":                        cel.StringType,
		"request.userInfo.groups":             cel.ListType(cel.StringType),
		"request.userInfo.extra":              cel.MapType(cel.StringType, cel.ListType(cel.StringType)),
		"request.dryRun":                      cel.BoolType,
		"namespaceObject.metadata.labels":     cel.MapType(cel.StringType, cel.StringType),
		"namespaceObject.metadata.generation": cel.IntType,
		"quantity('1Gi')":                     apiservercel.QuantityType,
		"'a,b'.split(',').map(s, s.size())":   cel.ListType(cel.IntType),
	} {
		t.Run(source, func(t *testing.T) {
			program, err := expression.Default().Compile(source, nothing, fresh, cel.AnyType)
			if err != nil {
				t.Fatal(err)
			}
			if program.Source() != source {
				t.Errorf("source is %q", program.Source())
			}
			if !program.OutputType().IsExactType(output) {
				t.Errorf("output type is %v, want %v", program.OutputType(), output)
			}
		})
	}
}

func TestCompileError(t *testing.T) {
	for name, test := range map[string]struct {
		source string
		want   string
	}{
		"no expression":       {"", "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		"cut off":             {"object.spec.replicas <", "compilation failed: ERROR: <input>:1:23: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		"undeclared":          {"subject.name == 'a'", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'subject' (in container '')"},
		"on the third line":   {"true &&\ntrue\n  && request.nam == 'a'", "compilation failed: ERROR: <input>:3:13: undefined field 'nam'"},
		"undeclared function": {"objct(1)", "compilation failed: ERROR: <input>:1:6: undeclared reference to 'objct' (in container '')"},
		"wrong operand":       {"request.name > 1", "compilation failed: ERROR: <input>:1:14: found no matching overload for '_>_' applied to '(string, int)'"},
		"namespace field":     {"namespaceObject.metadata.ownerReferences == []", "compilation failed: ERROR: <input>:1:25: undefined field 'ownerReferences'"},
		"request object":      {"request.object.spec == 1", "compilation failed: ERROR: <input>:1:8: undefined field 'object'"},
		"composition":         {"variables.a", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, origin := range []environment.Type{fresh, stored} {
				program, err := expression.Default().Compile(test.source, nothing, origin, cel.AnyType)
				wantError(t, err, apiservercel.ErrorTypeInvalid, test.want)
				if program != nil {
					t.Error("a program in spite of the error")
				}
				if !errors.Is(err, apiservercel.ErrCompilation) {
					t.Errorf("cause is %v, want a compilation error", err.Cause)
				}
			}
		})
	}
}

func TestReturnType(t *testing.T) {
	for name, test := range map[string]struct {
		source  string
		returns []*cel.Type
		want    string
	}{
		"as wanted":      {"1 == 1", []*cel.Type{cel.BoolType}, ""},
		"another":        {"1 + 1", []*cel.Type{cel.BoolType}, "must evaluate to bool but got int"},
		"unknown":        {"object.spec.paused", []*cel.Type{cel.BoolType}, "must evaluate to bool but got dyn"},
		"list":           {"['a']", []*cel.Type{cel.StringType}, "must evaluate to string but got list(string)"},
		"first of two":   {"'a'", []*cel.Type{cel.StringType, cel.NullType}, ""},
		"second of two":  {"null", []*cel.Type{cel.StringType, cel.NullType}, ""},
		"neither of two": {"true", []*cel.Type{cel.StringType, cel.NullType}, "must evaluate to one of [string null_type] but got bool"},
		"mixed":          {"object.a ? 'a' : null", []*cel.Type{cel.StringType, cel.NullType}, ""},
		"mixed, nested":  {"object.a ? null : object.b ? (object.c ? 'c' : null) : 'd'", []*cel.Type{cel.StringType, cel.NullType}, ""},
		"mixed, one": {"object.a ? 'a' : null", []*cel.Type{cel.StringType},
			"compilation failed: ERROR: <input>:1:10: found no matching overload for '_?_:_' applied to '(dyn, string, null)'"},
		"mixed, neither": {"object.a ? 1 : null", []*cel.Type{cel.StringType, cel.NullType},
			"compilation failed: ERROR: <input>:1:10: found no matching overload for '_?_:_' applied to '(dyn, int, null)'"},
		"mixed, unknown": {"object.a ? object.b : null", []*cel.Type{cel.StringType, cel.NullType}, "must evaluate to one of [string null_type] but got dyn"},
		"mixed below": {"(object.a ? 'a' : null) + 'b'", []*cel.Type{cel.StringType, cel.NullType},
			"compilation failed: ERROR: <input>:1:11: found no matching overload for '_?_:_' applied to '(dyn, string, null)'"},
		"anything":        {"[object]", []*cel.Type{cel.AnyType}, ""},
		"anything or one": {"1.5", []*cel.Type{cel.BoolType, cel.AnyType}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			program, err := expression.Default().Compile(test.source, nothing, fresh, test.returns...)
			if test.want != "" {
				wantError(t, err, apiservercel.ErrorTypeInvalid, test.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if program == nil {
				t.Fatal("neither program nor error")
			}
		})
	}
}

func TestScope(t *testing.T) {
	for source, inScope := range map[string][]expression.Declarations{
		"params.limit == 1": {params, everything},
		"authorizer.path('/healthz').check('get').allowed()": {authz, everything},
		"authorizer.requestResource.check('get').allowed()":  {authz, everything},
		"object == oldObject":                                {nothing, params, authz, everything},
		"request.name == namespaceObject.metadata.name":      {nothing, params, authz, everything},
	} {
		for _, in := range []expression.Declarations{nothing, params, authz, everything} {
			want := false
			for _, d := range inScope {
				want = want || d == in
			}
			_, err := expression.Default().Compile(source, in, fresh, cel.BoolType)
			if (err == nil) != want {
				t.Errorf("%s with %+v: error is %v", source, in, err)
			}
			name, _, _ := strings.Cut(source, ".")
			if undeclared := "undeclared reference to '" + name + "'"; !want && err != nil && !strings.Contains(err.Detail, undeclared) {
				t.Errorf("%s with %+v: error %q does not say %q", source, in, err, undeclared)
			}
		}
	}
}

func TestOrigin(t *testing.T) {
	// Quantities came with Kubernetes 1.28.
	compiler := expression.NewCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 27)))
	const source = "quantity('1').isLessThan(quantity('2'))"
	if _, err := compiler.Compile(source, nothing, stored, cel.BoolType); err != nil {
		t.Errorf("stored: %v", err)
	}
	_, err := compiler.Compile(source, nothing, fresh, cel.BoolType)
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: <input>:1:9: undeclared reference to 'quantity' (in container '')")

	_, err = compiler.Compile("true", nothing, "Draft", cel.BoolType)
	wantError(t, err, apiservercel.ErrorTypeInternal, "unexpected error loading CEL environment: unsupported environment type: Draft")
}

func TestCompileConcurrently(t *testing.T) {
	compiler := expression.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	var group sync.WaitGroup
	for range 8 {
		for in, source := range map[expression.Declarations]string{
			nothing:    "request.name.startsWith('a')",
			params:     "params.a == object.a",
			authz:      "authorizer.requestResource.check('get').allowed()",
			everything: "params.a == authorizer.requestResource.check('get').reason()",
		} {
			group.Go(func() {
				if _, err := compiler.Compile(source, in, stored, cel.BoolType); err != nil {
					t.Errorf("%s: %v", source, err)
				}
				composition := compiler.Compose()
				if _, err := composition.Declare("v", source, in, stored); err != nil {
					t.Errorf("variable %s: %v", source, err)
				}
				if _, err := composition.Compile("variables.v", nothing, stored, cel.BoolType); err != nil {
					t.Errorf("reading variable %s: %v", source, err)
				}
			})
		}
	}
	group.Wait()
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		"", "true", "object.spec.replicas <= 5", "object.spec.containers.all(c, has(c.image))",
		"variables.name + 1", "request.userInfo.groups.exists(g, g == 'a')", "'\\u0041' + b'\\xff'",
		"[1, 2.0, 3u, null, {'a': {}}]", "a.b.c.d(", "((((", "`", "quantity('1') + 1",
		"authorizer.requestResource.check('get').allowed()", "cel.bind(x, 1, x + x)", "object.?a.orValue(1)",
		"\xff\xfe", "1 / 0", "int('9223372036854775808')", "ip('::1').family()", "duration('1h')",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		composition := expression.Default().Compose()
		variable, variableErr := composition.Declare("name", source, everything, stored)
		program, err := composition.Compile(source, everything, fresh, cel.BoolType)
		if (variable == nil) == (variableErr == nil) || (program == nil) == (err == nil) {
			t.Errorf("%q: want either program or error", source)
		}
		if err != nil && err.Detail == "" {
			t.Errorf("%q: the error says nothing", source)
		}
	})
}

// cel-go panics when a constant map has a key that Go cannot hash.
func TestCompilePanic(t *testing.T) {
	_, err := expression.Default().Compile("{b'a': 1}.size() == 1", nothing, fresh, cel.BoolType)
	wantError(t, err, apiservercel.ErrorTypeInternal, "program instantiation failed: internal error: runtime error: hash of unhashable type types.Bytes")
}

// cel-go panics when an optional entry of a list or map is of the type dyn.
func TestOptionalEntries(t *testing.T) {
	const advice = " must be an optional, but its type is dyn. Select it with '.?field', or write optional.of()"
	for source, want := range map[string]string{
		"{?'a': object.a}.size() == 1":            "ERROR: <input>:1:14: the value of the optional entry a of the map" + advice,
		"{?object.a: dyn(1)}.size() == 1":         "ERROR: <input>:1:16: the value of the optional entry of the map" + advice,
		"[1, ?object.a].size() == 1":              "ERROR: <input>:1:12: the value of the optional element of the list" + advice,
		"[1].all(x, [?object.?a, ?dyn(x)] == [])": "ERROR: <input>:1:29: the value of the optional element of the list" + advice,
		"[?object[?'a']].size() == 1":             "ERROR: <input>:1:9: the value of the optional element of the list" + advice,
	} {
		_, err := expression.Default().Compile(source, everything, fresh, cel.BoolType)
		wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: "+want)
	}
	for _, source := range []string{
		"{?'a': object.?a}.size() == 1", "[?object.?a, ?optional.none()] == []", "{?'a': object.?b.c, 'b': dyn(1)}.size() == 1", "[?{'a': 1}[?'a'], ?optional.of(1)].size() == 1",
		"[1].all(x, [?optional.of(x)] == [1])", "[?authorizer.group('').resource('pods').check('get').allowed() ? object.?a : optional.none()] == []",
	} {
		if _, err := expression.Default().Compile(source, everything, fresh, cel.BoolType); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}
