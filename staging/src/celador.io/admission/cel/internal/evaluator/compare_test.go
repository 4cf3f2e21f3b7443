// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/internal/evaluator"
)

// evaluationsOfRandomOrder is the number of evaluations by cel-go in which the random order of a Go
// map is expected to change the value or the cost. One order of two entries occurs once in eight
// evaluations, and only expressions that seem to differ are evaluated so often.
const evaluationsOfRandomOrder = 1024

// check evaluates a program with the evaluator and with cel-go. Unless the evaluator declines, it
// must return cel-go's value at cel-go's cost. In either case, it must read variables in cel-go's
// order. check reports whether the evaluator returned a value.
func check(t testing.TB, p *program, in *input) bool {
	t.Helper()
	return checkWith(t, t.Context(), p, in)
}

func checkWith(t testing.TB, ctx context.Context, p *program, in *input) bool {
	t.Helper()
	if p.planned == nil {
		return false
	}
	answered := checkOnce(t, ctx, p, in)
	// The second evaluation finds the views that the first one filled, and used frames.
	if again := checkOnce(t, ctx, p, in); again != answered && !t.Failed() {
		t.Errorf("%s with the input %s: has a value the first time (%t) or the second (%t), not both", p.source, in.name, answered, again)
	}
	return answered
}

func checkOnce(t testing.TB, ctx context.Context, p *program, in *input) bool {
	t.Helper()
	var got ref.Val
	var cost uint64
	var ok bool
	memory := &evaluator.Stack{}
	reads := in.readsOf(func() {
		got, cost, ok = p.planned.Evaluate(memory, ctx.Done(), celconfig.PerCallLimit, in)
	})
	if panicked := memory.Panicked(); panicked != nil {
		if _, _, err := p.reference.ContextEval(ctx, in); err == nil || !strings.HasPrefix(err.Error(), "internal error: ") {
			t.Errorf("%s with the input %s: the evaluator panicked where cel-go returns the error %v: %v\n%s", p.source, in.name, err, panicked.Cause, panicked.Stack)
		}
	}
	if difference := compareReads(ctx, p, in, reads, ok); difference != "" {
		t.Errorf("%s with the input %s: %s", p.source, in.name, difference)
	}
	if !ok {
		return false
	}
	difference := compare(ctx, p, in, got, cost)
	if difference != "" && !changes(ctx, p, in) {
		t.Errorf("%s with the input %s: %s", p.source, in.name, difference)
	}
	return true
}

// compareReads describes how the variables that the evaluator read differ from those that cel-go
// reads, or returns an empty string. An evaluation that declines may have read only the first of
// them.
func compareReads(ctx context.Context, p *program, in *input, reads []string, complete bool) string {
	reference := func() []string {
		return in.readsOf(func() { _, _, _ = p.reference.ContextEval(ctx, in) })
	}
	want := reference()
	if slices.Equal(reads, want) || !complete && len(reads) < len(want) && slices.Equal(reads, want[:len(reads)]) {
		return ""
	}
	for range evaluationsOfRandomOrder {
		if !slices.Equal(reference(), want) {
			return ""
		}
	}
	return fmt.Sprintf("reads the variables %q, want %q (complete: %t)", reads, want, complete)
}

// changes reports whether cel-go itself returns different values or costs, because the order of a
// Go map is random.
func changes(ctx context.Context, p *program, in *input) bool {
	first, details, err := p.reference.ContextEval(ctx, in)
	for range evaluationsOfRandomOrder {
		if err != nil {
			return false
		}
		if compare(ctx, p, in, first, *details.ActualCost()) != "" {
			return true
		}
	}
	return false
}

// compare describes how a value and its cost differ from cel-go's, or returns an empty string.
func compare(ctx context.Context, p *program, in *input, got ref.Val, cost uint64) string {
	want, details, err := p.reference.ContextEval(ctx, in)
	switch {
	case err != nil:
		return fmt.Sprintf("is %v, want the error %v", got, err)
	case cost != *details.ActualCost():
		return fmt.Sprintf("costs %d, want %d (the value is %v)", cost, *details.ActualCost(), want)
	}
	return differ(got, want)
}

// differ describes how two values differ, including their Go types, or returns an empty string.
func differ(got, want ref.Val) string {
	if g, w := got.Type().TypeName(), want.Type().TypeName(); g != w {
		return fmt.Sprintf("%v is of type %s, want %s", got, g, w)
	}
	if g, w := fmt.Sprintf("%T", got.Value()), fmt.Sprintf("%T", want.Value()); g != w {
		return fmt.Sprintf("%v is %s in Go, want %s", got, g, w)
	}
	switch w := want.(type) {
	case traits.Mapper:
		return differInEntries(got.(traits.Mapper), w)
	case traits.Lister:
		return differInElements(got.(traits.Lister), w)
	}
	if g, w := reflect.TypeOf(got), reflect.TypeOf(want); g != w {
		return fmt.Sprintf("%v is a %v, want a %v", got, g, w)
	}
	if reflect.DeepEqual(got, want) || got.Equal(want) == types.True || notANumber(got) && notANumber(want) {
		return ""
	}
	return fmt.Sprintf("is %v, want %v", got, want)
}

func notANumber(v ref.Val) bool {
	d, ok := v.(types.Double)
	return ok && math.IsNaN(float64(d))
}

func differInElements(got, want traits.Lister) string {
	if got.Size() != want.Size() {
		return fmt.Sprintf("has %v elements, want %v", got.Size(), want.Size())
	}
	for i := types.IntZero; i < want.Size().(types.Int); i++ {
		if difference := differ(got.Get(i), want.Get(i)); difference != "" {
			return fmt.Sprintf("[%d] %s", i, difference)
		}
	}
	return ""
}

func differInEntries(got, want traits.Mapper) string {
	if got.Size() != want.Size() {
		return fmt.Sprintf("has %v entries, want %v", got.Size(), want.Size())
	}
	for it := want.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		value, found := got.Find(key)
		if !found {
			return fmt.Sprintf("has no %v", key)
		}
		if difference := differ(value, want.Get(key)); difference != "" {
			return fmt.Sprintf("[%v] %s", key, difference)
		}
	}
	return ""
}
