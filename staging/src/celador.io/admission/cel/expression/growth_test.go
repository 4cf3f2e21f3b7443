// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
)

// sources holds functions that return the expression of a variable by its position, for policies
// with any number of variables.
var sources = map[string]func(i int) string{
	"constants":      func(i int) string { return fmt.Sprint(i) },
	"fields":         func(i int) string { return fmt.Sprintf("object.spec.field%d == 'a'", i) },
	"read by next":   func(i int) string { return previous(i, "%s + 1", "1") },
	"nested by next": func(i int) string { return previous(i, "[%s]", "[1]") },
	"maps by next":   func(i int) string { return previous(i, "{%[1]s: %[1]s}", "1") },
	"broken":         func(i int) string { return fmt.Sprintf("unknown%d", i) },
}

func variableName(i int) string { return fmt.Sprintf("a_name_that_is_long_%010d", i) }

// previous returns an expression that reads the variable before the given position.
func previous(i int, format, first string) string {
	if i == 0 {
		return first
	}
	return fmt.Sprintf(format, "variables."+variableName(i-1))
}

// declare compiles a policy with the given number of variables.
func declare(compiler *expression.Compiler, count int, source func(i int) string) []expression.Variable {
	composition := compiler.Compose()
	defer compiler.Release(composition)
	variables := make([]expression.Variable, count)
	for i := range variables {
		program, err := composition.Declare(variableName(i), source(i), everything, stored)
		variables[i] = expression.Variable{Name: variableName(i), Program: program, Err: err}
	}
	expression.Link(variables)
	return variables
}

// memory returns the bytes allocated so far, and the bytes in use.
func memory() (allocated, held uint64) {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc, stats.HeapAlloc
}

// TestMemoryOfVariables checks that twice as many variables take twice the memory. It must not
// run in parallel.
func TestMemoryOfVariables(t *testing.T) {
	const (
		count = 500
		// maxAllocated and maxHeld are bytes per variable. Kubernetes' compiler allocates 40 kB
		// for a constant, and holds on to 16 kB. cel-go allocates more for larger types, and
		// under the race detector.
		maxAllocated = 1 << 20
		maxHeld      = 8 << 10
	)
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			compiler := expression.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
			declare(compiler, 1, func(int) string { return "object" }) // creates the environments
			measure := func(n int) (allocated, held uint64) {
				allocatedBefore, heldBefore := memory()
				variables := declare(compiler, n, source)
				allocated, held = memory()
				runtime.KeepAlive(variables)
				return allocated - allocatedBefore, held - min(held, heldBefore)
			}
			allocated, held := measure(count)
			allocatedTwice, heldTwice := measure(2 * count)
			if float64(allocatedTwice) > 2.3*float64(allocated) || float64(heldTwice) > 2.3*float64(held)+1<<20 {
				t.Errorf("%d variables allocate %d bytes and hold %d; twice as many allocate %d and hold %d", count, allocated, held, allocatedTwice, heldTwice)
			}
			if allocated > count*maxAllocated || held > count*maxHeld {
				t.Errorf("%d variables allocate %d bytes and hold %d", count, allocated, held)
			}
		})
	}
}

// TestReleaseFreesMemory checks that a compiler shrinks to its previous size after a policy is no
// longer used. It must not run in parallel.
func TestReleaseFreesMemory(t *testing.T) {
	compiler := expression.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	declare(compiler, 1, sources["fields"])
	_, before := memory()
	declare(compiler, 5000, sources["fields"])
	_, after := memory()
	runtime.KeepAlive(compiler)
	if left := int64(after) - int64(before); left > 4<<20 {
		t.Errorf("%d bytes are left", left)
	}
}

func BenchmarkDeclare(b *testing.B) {
	for _, count := range []int{1000, 2000, 4000, 8000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			b.ReportAllocs()
			compiler := expression.Default()
			for b.Loop() {
				declare(compiler, count, sources["read by next"])
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*count), "µs/variable")
		})
	}
}

// TestMemoryOfDeepExpressions plans expressions whose parts are nested as deep as cel-go
// allows. It must not run in parallel.
func TestMemoryOfDeepExpressions(t *testing.T) {
	const depth, many = 200, 20
	text := strings.Repeat("a", 40<<10)
	for name, test := range map[string]struct {
		source func(i int) string
		held   uint64
	}{
		"selections": {func(i int) string { return fmt.Sprint("object.a", i, strings.Repeat(".f", depth)) }, 64 << 10},
		"indexes":    {func(i int) string { return fmt.Sprint("object.a", i, strings.Repeat("['f']", depth)) }, 128 << 10},
		"calls":      {func(i int) string { return fmt.Sprint("object.a", i, strings.Repeat(".lowerAscii()", depth)) }, 256 << 10},
		"around a text": {func(i int) string {
			return fmt.Sprintf("('%d%s' + object.a)%s", i, text, strings.Repeat(".lowerAscii()", depth))
		}, 512 << 10},
		"sums in a list": {func(i int) string { return fmt.Sprintf("[object.a%d%s]", i, strings.Repeat(" + object.b", depth)) }, 256 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			_, before := memory()
			variables := declare(expression.Default(), many, test.source)
			_, after := memory()
			for _, v := range variables {
				if v.Err != nil || v.Program.Planned() != 1 {
					t.Fatalf("is not planned: %v", v.Err)
				}
			}
			if held := (after - min(after, before)) / many; held > test.held {
				t.Errorf("an expression of %d bytes holds on to %d", len(test.source(0)), held)
			}
		})
	}
}
