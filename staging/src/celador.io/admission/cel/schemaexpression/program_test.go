// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/cel/schemaexpression"
)

// numbers returns an activation whose self has n numbers.
func numbers(r *resource, n int) *schemaexpression.Activation {
	list := make([]any, n)
	for i := range list {
		list[i] = int64(i)
	}
	self := map[string]any{"spec": map[string]any{"numbers": list}}
	return &schemaexpression.Activation{Self: schemaexpression.Value(self, schemaexpression.NewSchema(r.common()))}
}

func TestCancellation(t *testing.T) {
	r := loadResource(t)
	program := compile(t, r, "self.spec.numbers.all(a, a >= 0)", schemaexpression.NoOldSelf)
	ctx, cancel := context.WithCancelCause(t.Context())
	if e := program.Evaluate(ctx, numbers(r, 1000)); e.Err != nil || e.Value != types.True {
		t.Fatalf("%v, %v", e.Value, e.Err)
	}
	reason := errors.New("the client left")
	cancel(reason)
	e := program.Evaluate(ctx, numbers(r, 1000))
	if !errors.Is(e.Err, interpreter.InterruptError{}) || !errors.Is(e.Err, reason) || e.Value != nil || !e.HasCost {
		t.Errorf("value %v, error %v, cost %t, want an interruption because %v", e.Value, e.Err, e.HasCost, reason)
	}
}

func TestPerCallLimit(t *testing.T) {
	r := loadResource(t)
	program := compile(t, r, "self.spec.numbers.all(a, self.spec.numbers.all(b, a >= 0 && b >= 0))", schemaexpression.NoOldSelf)
	if e := program.Evaluate(t.Context(), numbers(r, 200)); e.Err != nil || e.Cost > celconfig.PerCallLimit {
		t.Fatalf("cost %d, error %v", e.Cost, e.Err)
	}
	for _, stop := range []bool{false, true} {
		in := numbers(r, 1000)
		in.StopAtCostLimit = stop
		e := program.Evaluate(t.Context(), in)
		if e.Err == nil || !strings.HasPrefix(e.Err.Error(), "operation cancelled: actual cost limit exceeded") || e.Cost <= celconfig.PerCallLimit {
			t.Errorf("StopAtCostLimit %t: cost %d, error %v", stop, e.Cost, e.Err)
		}
	}
}

// TestLimits covers work that CEL costs do not bound.
func TestLimits(t *testing.T) {
	r := loadResource(t)
	env := environmentOf(t, schemaexpression.Default(), schemaexpression.Scope{Self: r.self()})
	types := "{'a': 1}"
	for range 20 {
		types = fmt.Sprintf("[%s].map(a, {a: a})[0]", types)
	}
	if _, err := env.Compile(types + " == null"); err == nil || !strings.Contains(err.Detail, "type is too large") {
		t.Errorf("checking a type of exponential size: %v", err)
	}
	lists := "[dyn(self.spec.numbers.map(n, n))]"
	for range 30 {
		lists = fmt.Sprintf("%s.map(l, dyn([l, l]))", lists)
	}
	program := compile(t, r, lists+" == "+lists, schemaexpression.NoOldSelf)
	in := numbers(r, 100)
	if e := program.Evaluate(t.Context(), in); e.Err == nil || !strings.Contains(e.Err.Error(), "limit of") {
		t.Errorf("comparing values of exponential size: %v, %v", e.Value, e.Err)
	}
	// The limits apply to all programs of an activation.
	if e := compile(t, r, "true", schemaexpression.NoOldSelf).Evaluate(t.Context(), in); e.Err == nil {
		t.Error("another program of the activation has a value")
	}
	if e := compile(t, r, "true", schemaexpression.NoOldSelf).Evaluate(t.Context(), numbers(r, 1)); e.Err != nil {
		t.Error(e.Err)
	}
}

func environmentOf(t testing.TB, compiler *schemaexpression.Compiler, scope schemaexpression.Scope) *schemaexpression.Environment {
	t.Helper()
	env, err := compiler.Environment(scope, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func newCompiler() *schemaexpression.Compiler {
	return schemaexpression.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
}

// TestSharing compiles the same expression in scopes that differ in one respect.
func TestSharing(t *testing.T) {
	object := func(name string, maxLength int64, fields ...string) *apiservercel.DeclType {
		text := apiservercel.NewSimpleTypeWithMinSize("string", apiservercel.StringType.CelType(), types.String(""), 2)
		text.MaxElements = maxLength
		declared := map[string]*apiservercel.DeclField{}
		for _, field := range fields {
			declared[field] = apiservercel.NewDeclField(field, text, false, nil, nil)
		}
		return apiservercel.NewObjectType(name, declared)
	}
	base := schemaexpression.Scope{Self: object("A", 10, "a", "b")}
	for _, tc := range []struct {
		name, source string
		scope        schemaexpression.Scope
		shared       bool
	}{
		{"equal", "self.a == self.b", schemaexpression.Scope{Self: object("A", 10, "a", "b")}, true},
		{"name", "self.a == self.b", schemaexpression.Scope{Self: object("B", 10, "a", "b")}, true},
		{"name of the result", "self", schemaexpression.Scope{Self: object("B", 10, "a", "b")}, false},
		{"name in the result", "[self]", schemaexpression.Scope{Self: object("B", 10, "a", "b")}, false},
		{"equal name of the result", "self", schemaexpression.Scope{Self: object("A", 10, "a", "b")}, true},
		{"field", "self.a == self.b", schemaexpression.Scope{Self: object("A", 10, "a", "b", "c")}, false},
		{"size", "self.a == self.b", schemaexpression.Scope{Self: object("A", 11, "a", "b")}, false},
		{"oldSelf", "self.a == self.b", schemaexpression.Scope{Self: base.Self, OldSelf: schemaexpression.PlainOldSelf}, false},
		{"null results", "self.a == self.b", schemaexpression.Scope{Self: base.Self, NullResults: true}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			compiler := newCompiler()
			of := func(scope schemaexpression.Scope) (*schemaexpression.Expression, *schemaexpression.Program) {
				expression, invalid := environmentOf(t, compiler, scope).Compile(tc.source)
				if invalid != nil {
					t.Fatal(invalid)
				}
				program, err := expression.Program()
				if err != nil {
					t.Fatal(err)
				}
				return expression, program
			}
			first, program := of(base)
			second, other := of(tc.scope)
			if shared := program == other; shared != tc.shared {
				t.Errorf("shared: %t", shared)
			}
			if want := tc.scope.Self.TypeName(); tc.source == "self" && second.OutputType().TypeName() != want {
				t.Errorf("the result is of type %v, want %s", second.OutputType(), want)
			}
			if !tc.shared {
				return
			}
			want, _ := first.MaxCost(schemaexpression.ObjectSize{Entries: 10, Text: 1000})
			if cost, err := second.MaxCost(schemaexpression.ObjectSize{Entries: 10, Text: 1000}); err != nil || cost != want {
				t.Errorf("the cost is %v, want %v: %v", cost, want, err)
			}
			if got, want := fmt.Sprint(second.SelfReads()), fmt.Sprint(first.SelfReads()); got != want {
				t.Errorf("reads %s, want %s", got, want)
			}
		})
	}
}

// TestNames requires that a name of a type in one scope is not known in another with equal types.
func TestNames(t *testing.T) {
	compiler := newCompiler()
	self := func(name string) *apiservercel.DeclType {
		return apiservercel.NewObjectType(name, map[string]*apiservercel.DeclField{"a": apiservercel.NewDeclField("a", apiservercel.StringType, false, nil, nil)})
	}
	const source = "type(self) == A"
	expression, invalid := environmentOf(t, compiler, schemaexpression.Scope{Self: self("A")}).Compile(source)
	if invalid != nil {
		t.Fatal(invalid)
	}
	if _, invalid := environmentOf(t, compiler, schemaexpression.Scope{Self: self("B")}).Compile(source); invalid == nil {
		t.Error("compiles without the type")
	}
	runtime.KeepAlive(expression)
}

// TestConcurrency compiles and evaluates the same expressions in several goroutines.
func TestConcurrency(t *testing.T) {
	celtest.CheckKept(t)
	r := loadResource(t)
	compiler, schema := newCompiler(), schemaexpression.NewSchema(r.common())
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			env, err := compiler.Environment(schemaexpression.Scope{Self: r.self()}, environment.StoredExpressions)
			if err != nil {
				t.Error(err)
				return
			}
			for _, source := range []string{
				"self.spec.hosts.all(h, h.matches('^[a-z.]+$'))", "self.spec.?name.orValue('') == 'web-1'", "self.spec.labels.missing == ''", "self.spec.zones == ['eu-2', 'eu-1']",
			} {
				expression, invalid := env.Compile(source)
				if invalid != nil {
					t.Error(invalid)
					return
				}
				program, err := expression.Program()
				if err != nil {
					t.Error(err)
					return
				}
				e := program.Evaluate(t.Context(), &schemaexpression.Activation{Self: schemaexpression.Value(r.Values["full"], schema)})
				if failed := strings.Contains(source, "missing"); failed != (e.Err != nil) || !failed && e.Value != types.True {
					t.Errorf("%s: %v, %v", source, e.Value, e.Err)
				}
			}
		})
	}
	group.Wait()
}

// Evaluations change neither the parts of an object that views cache nor the constants that all
// evaluations of a program share, on the same object and in several goroutines.
func TestBytes(t *testing.T) {
	celtest.CheckKept(t)
	r, sources := loadResource(t), []string{
		"self.spec.secret + b'1' != self.spec.secret + b'2'",
		"[self.spec.secret + b'1', self.spec.secret + b'2'].map(b, string(b)).all(s, s.endsWith('1') || s.endsWith('2')) && string(self.spec.secret + b'1').endsWith('1')",
		"[[b'ab', self.spec.secret]].all(p, p[0] + p[1] == bytes('ab' + string(self.spec.secret)) && p[1] + p[0] == bytes(string(self.spec.secret) + 'ab'))",
		"(b'ab' + bytes(self.spec.name)) == bytes('ab' + self.spec.name)",
		"(bytes('ab') + bytes(self.spec.name)) == bytes('ab' + self.spec.name)",
		"quantity('5').isLessThan(quantity('123456789012345678901234567890')) && [quantity('5')].all(q, q.isLessThan(quantity('123456789012345678901234567890')) && q.isInteger())",
		"optional.of([]).optMap(l, [l + [1], l + [2]]).value() == [[1], [2]]",
	}
	compiler, schema := newCompiler(), schemaexpression.NewSchema(r.common())
	for _, source := range sources {
		env, err := compiler.Environment(schemaexpression.Scope{Self: r.self()}, environment.StoredExpressions)
		if err != nil {
			t.Fatal(err)
		}
		expression, invalid := env.Compile(source)
		if invalid != nil {
			t.Fatal(invalid)
		}
		program, err := expression.Program()
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				self := schemaexpression.Value(r.Values["full"], schema)
				for range 20 {
					if e := program.Evaluate(t.Context(), &schemaexpression.Activation{Self: self}); e.Err != nil || e.Value != types.True {
						t.Errorf("%s: %v, %v", source, e.Value, e.Err)
						return
					}
				}
			})
		}
		group.Wait()
	}
}

// TestMemory requires that programs keep neither environments nor checked expressions in memory: an
// environment takes some 30 kB.
func TestMemory(t *testing.T) {
	r := loadResource(t)
	self, compiler := r.self(), newCompiler()
	compiled := func(i int) *schemaexpression.Program {
		expression, invalid := environmentOf(t, compiler, schemaexpression.Scope{Self: self}).Compile(fmt.Sprintf("self.spec.name.size() < %d", i))
		if invalid != nil {
			t.Fatal(invalid)
		}
		program, err := expression.Program()
		if err != nil {
			t.Fatal(err)
		}
		return program
	}
	kept := []*schemaexpression.Program{compiled(0)}
	before := heap()
	const programs = 200
	for i := range programs {
		kept = append(kept, compiled(i+1))
	}
	if perProgram := (int64(heap()) - int64(before)) / programs; perProgram > 4<<10 {
		t.Errorf("a program takes %d bytes", perProgram)
	}
	runtime.KeepAlive(kept)
}

func heap() uint64 {
	for range 3 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestCachedValues requires that evaluations of an activation after the first do not allocate.
func TestCachedValues(t *testing.T) {
	r := loadResource(t)
	program := compile(t, r, "self.spec.name.startsWith('web') && self.spec.rules.all(a, a.path != '') && self.spec.labels.app == 'web'", schemaexpression.NoOldSelf)
	in := &schemaexpression.Activation{Self: schemaexpression.Value(r.Values["full"], schemaexpression.NewSchema(r.common()))}
	if allocations := testing.AllocsPerRun(100, func() {
		if e := program.Evaluate(t.Context(), in); e.Value != types.True {
			t.Fatal(e.Err)
		}
	}); allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}
