// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/schemaexpression"
)

// guardedSchema is the schema of objects with a text, a number, a boolean, and an object and a list
// of such objects.
const guardedSchema = `{"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "t": {"type": "boolean"},
	"o": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "t": {"type": "boolean"}}},
	"l": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "t": {"type": "boolean"}}}},
	"x": {"x-kubernetes-preserve-unknown-fields": true}}}`

// guardGenerator makes expressions that read fields with and without guards.
type guardGenerator struct {
	*rand.Rand
	variables int
	// texts and conditions are shared variables.
	texts, conditions []string
}

// whole returns a variable that is the whole object.
func (g *guardGenerator) whole() string { return []string{"self", "self", "root"}[g.IntN(3)] }

// shared returns one of the shared variables, or another expression if there are none.
func (g *guardGenerator) shared(names []string, other func() string) func() string {
	if len(names) == 0 {
		return other
	}
	return func() string { return "variables." + names[g.IntN(len(names))] }
}

func (g *guardGenerator) variable() string {
	g.variables++
	return fmt.Sprintf("v%d", g.variables)
}

func (g *guardGenerator) pick(choices ...func() string) string {
	return choices[g.IntN(len(choices))]()
}

// text returns an expression of type string over an object.
func (g *guardGenerator) text(depth int, object string) string {
	constant := func() string { return "'x'" }
	read := func() string { return object + ".a" }
	optional := func() string { return object + ".?a.orValue('y')" }
	if depth <= 0 {
		return g.pick(constant, read, optional)
	}
	conditional := func() string {
		return fmt.Sprintf("(%s ? %s : %s)", g.condition(depth-1, object), g.text(depth-1, object), g.text(depth-1, object))
	}
	return g.pick(constant, read, optional, conditional, conditional, conditional, g.shared(g.texts, read),
		func() string { return g.text(depth-1, object) + " + " + g.text(depth-1, object) },
		func() string {
			v := g.variable()
			return fmt.Sprintf("%s.?a.optMap(%s, %s + %s).orValue('')", object, v, v, g.text(depth-1, object))
		},
		func() string {
			v := g.variable()
			return fmt.Sprintf("[%s].map(%s, %s)[0]", object, v, g.text(depth-1, g.whole()))
		},
		func() string {
			if object != "self" && object != "root" {
				return read()
			}
			return g.pick(
				func() string { return object + ".o.a" },
				func() string { return "string(" + object + ".x.a)" },
				func() string {
					v := g.variable()
					return fmt.Sprintf("%s.?o.optMap(%s, %s).orValue('')", object, v, g.text(depth-1, v))
				},
				func() string { return g.list(depth-1) + ".join(',')" },
			)
		})
}

// list returns an expression of type list(string).
func (g *guardGenerator) list(depth int) string {
	item := g.variable()
	filter := ""
	if g.IntN(2) == 0 {
		filter = fmt.Sprintf(".filter(%s, %s)", item, g.condition(depth-1, item))
	}
	return fmt.Sprintf("%s%s.map(%s, %s)", g.whole()+g.pick(func() string { return ".l" }, func() string { return ".?l.orValue([])" }), filter, item, g.text(depth-1, item))
}

// condition returns an expression of type bool over an object.
func (g *guardGenerator) condition(depth int, object string) string {
	has := func() string { return "has(" + object + ".a)" }
	if depth <= 0 {
		return g.pick(has, has,
			func() string { return object + ".?a.hasValue()" },
			func() string { return object + ".?a.orValue('') != ''" },
			func() string { return object + ".?n.orValue(0) > 0" },
			func() string { return object + ".?t.orValue(false)" },
			func() string { return "has(" + object + ".n)" },
			func() string { return "true" })
	}
	return g.pick(has, g.shared(g.conditions, has),
		func() string { return g.condition(depth-1, object) + " && " + g.condition(depth-1, object) },
		func() string { return "(" + g.condition(depth-1, object) + " || " + g.condition(depth-1, object) + ")" },
		func() string { return "!(" + g.condition(depth-1, object) + ")" },
		func() string {
			return fmt.Sprintf("(%s ? %s : %s)", g.condition(depth-1, object), g.condition(depth-1, object), g.condition(depth-1, object))
		},
		func() string { return g.text(depth-1, object) + " == 'x'" },
		func() string {
			if object != "self" && object != "root" {
				return has()
			}
			item := g.variable()
			return g.pick(
				func() string { return fmt.Sprintf("has(%s.l)", object) },
				func() string { return fmt.Sprintf("has(%s.o) && has(%s.o.a)", object, object) },
				func() string { return fmt.Sprintf("has(%s.x) && has(%s.x.a)", object, object) },
				func() string { return fmt.Sprintf("%s.l.all(%s, %s)", object, item, g.condition(depth-1, item)) },
				func() string {
					return fmt.Sprintf("%s.?l.orValue([]).exists(%s, %s)", object, item, g.condition(depth-1, item))
				},
			)
		})
}

// object returns an object that lacks some fields.
func (g *guardGenerator) object(whole bool) map[string]any {
	object := map[string]any{}
	for name, value := range map[string]any{"a": "x", "n": int64(1), "t": true} {
		if g.IntN(2) == 0 {
			object[name] = value
		}
	}
	if !whole {
		return object
	}
	if g.IntN(3) > 0 {
		object["o"] = g.object(false)
	}
	if g.IntN(3) > 0 {
		object["l"] = []any{g.object(false), g.object(false)}
	}
	if g.IntN(3) > 0 {
		object["x"] = g.object(false)
	}
	return object
}

// sharedPrograms evaluates shared variables for one object when they are read. It implements the
// Values of an activation.
type sharedPrograms struct {
	programs   map[string]*schemaexpression.Program
	activation *schemaexpression.Activation
}

func (s sharedPrograms) ResolveName(name string) (any, bool) {
	if name == schemaexpression.Root {
		return s.activation.Self, true
	}
	program, ok := s.programs[name]
	if !ok {
		return nil, false
	}
	evaluation := program.EvaluateShared(context.Background(), s.activation)
	if evaluation.Err != nil {
		return types.WrapErr(evaluation.Err), true
	}
	return evaluation.Value, true
}

// TestReportsUnguardedReads evaluates generated expressions over objects that lack fields: those
// without unguarded reads never fail because a field is unset, neither in the expression nor in the
// shared variables that it reads.
func TestReportsUnguardedReads(t *testing.T) {
	var source spec.Schema
	if err := json.Unmarshal([]byte(guardedSchema), &source); err != nil {
		t.Fatal(err)
	}
	schema := &openapi.Schema{Schema: &source}
	values := schemaexpression.NewOpenSchema(schema)
	root := schemaexpression.OpenDeclType(schema, false).MaybeAssignTypeName("object(v1)")
	guarded, failed, shared := 0, 0, 0
	for seed := range uint64(1200) {
		g := &guardGenerator{Rand: rand.New(rand.NewPCG(seed, 35))}
		scope := schemaexpression.Scope{Self: root, Others: []schemaexpression.Declaration{{Name: schemaexpression.Root, Type: root}}, Shared: schemaexpression.NewShared()}
		env, err := schemaexpression.Default().Environment(scope, environment.StoredExpressions)
		if err != nil {
			t.Fatal(err)
		}
		var sources []string
		compile := func(source string) (*schemaexpression.Expression, *schemaexpression.Program) {
			t.Helper()
			sources = append(sources, source)
			x, invalid := env.Compile(source)
			if invalid != nil {
				t.Fatalf("%q: %v", sources, invalid)
			}
			program, err := x.Program()
			if err != nil {
				t.Fatal(err)
			}
			return x, program
		}
		programs := map[string]*schemaexpression.Program{}
		declare := func(name, source string) {
			var x *schemaexpression.Expression
			x, programs[schemaexpression.Variables+"."+name] = compile(source)
			scope.Shared.Declare(name, x)
		}
		if seed%2 == 1 {
			declare("c0", g.condition(2, "self"))
			g.conditions = append(g.conditions, "c0")
			declare("t0", g.text(2, "self"))
			g.texts = append(g.texts, "t0")
			declare("t1", g.text(2, "root"))
			g.texts = append(g.texts, "t1")
		}
		x, program := compile(g.text(4, g.whole()))
		reads := x.UnguardedReads()
		if len(reads) == 0 {
			guarded++
			if strings.Contains(x.Source(), schemaexpression.Variables) {
				shared++
			}
		}
		for range 20 {
			object := g.object(true)
			activation := &schemaexpression.Activation{Self: schemaexpression.Value(object, values)}
			activation.Values = sharedPrograms{programs, activation}
			evaluation := program.Evaluate(t.Context(), activation)
			if evaluation.Err == nil {
				continue
			}
			failed++
			if strings.Contains(evaluation.Err.Error(), "no such key") && len(reads) == 0 {
				t.Errorf("%q is guarded, but fails for %v: %v", sources, object, evaluation.Err)
			}
		}
	}
	if guarded < 100 || failed < 100 || shared < 20 {
		t.Errorf("only %d expressions are guarded, %d of them read variables, and only %d evaluations fail", guarded, shared, failed)
	}
}
