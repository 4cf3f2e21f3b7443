// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/schemaexpression"
)

// guardedSchema is the schema of objects with a text, a number, a boolean, and an object and a list of such objects.
const guardedSchema = `{"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "t": {"type": "boolean"},
	"o": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "t": {"type": "boolean"}}},
	"l": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}, "t": {"type": "boolean"}}}},
	"x": {"x-kubernetes-preserve-unknown-fields": true}}}`

// guardGenerator makes expressions that read fields with and without guards.
type guardGenerator struct {
	*rand.Rand
	variables int
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
	return g.pick(constant, read, optional, conditional, conditional, conditional,
		func() string { return g.text(depth-1, object) + " + " + g.text(depth-1, object) },
		func() string {
			v := g.variable()
			return fmt.Sprintf("%s.?a.optMap(%s, %s + %s).orValue('')", object, v, v, g.text(depth-1, object))
		},
		func() string {
			v := g.variable()
			return fmt.Sprintf("[%s].map(%s, %s)[0]", object, v, g.text(depth-1, "self"))
		},
		func() string {
			if object != "self" {
				return read()
			}
			return g.pick(
				func() string { return "self.o.a" },
				func() string { return "string(self.x.a)" },
				func() string {
					v := g.variable()
					return fmt.Sprintf("self.?o.optMap(%s, %s).orValue('')", v, g.text(depth-1, v))
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
	return fmt.Sprintf("%s%s.map(%s, %s)", g.pick(func() string { return "self.l" }, func() string { return "self.?l.orValue([])" }), filter, item, g.text(depth-1, item))
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
	return g.pick(has,
		func() string { return g.condition(depth-1, object) + " && " + g.condition(depth-1, object) },
		func() string { return "(" + g.condition(depth-1, object) + " || " + g.condition(depth-1, object) + ")" },
		func() string { return "!(" + g.condition(depth-1, object) + ")" },
		func() string {
			return fmt.Sprintf("(%s ? %s : %s)", g.condition(depth-1, object), g.condition(depth-1, object), g.condition(depth-1, object))
		},
		func() string { return g.text(depth-1, object) + " == 'x'" },
		func() string {
			if object != "self" {
				return has()
			}
			item := g.variable()
			return g.pick(
				func() string { return "has(self.l)" },
				func() string { return "has(self.o) && has(self.o.a)" },
				func() string { return "has(self.x) && has(self.x.a)" },
				func() string { return fmt.Sprintf("self.l.all(%s, %s)", item, g.condition(depth-1, item)) },
				func() string {
					return fmt.Sprintf("self.?l.orValue([]).exists(%s, %s)", item, g.condition(depth-1, item))
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

// TestReportsUnguardedReads evaluates generated expressions over objects that lack fields: those without unguarded reads never
// fail because a field is unset.
func TestReportsUnguardedReads(t *testing.T) {
	var source spec.Schema
	if err := json.Unmarshal([]byte(guardedSchema), &source); err != nil {
		t.Fatal(err)
	}
	schema := &openapi.Schema{Schema: &source}
	values := schemaexpression.NewOpenSchema(schema)
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: schemaexpression.OpenDeclType(schema, false).MaybeAssignTypeName("object(v1)")}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	guarded, failed := 0, 0
	for seed := range uint64(600) {
		g := &guardGenerator{Rand: rand.New(rand.NewPCG(seed, 35))}
		source := g.text(4, "self")
		x, invalid := env.Compile(source)
		if invalid != nil {
			t.Fatalf("%s: %v", source, invalid)
		}
		program, err := x.Program()
		if err != nil {
			t.Fatal(err)
		}
		reads := x.UnguardedReads()
		if len(reads) == 0 {
			guarded++
		}
		for range 20 {
			object := g.object(true)
			evaluation := program.Evaluate(t.Context(), &schemaexpression.Activation{Self: schemaexpression.Value(object, values)})
			if evaluation.Err == nil {
				continue
			}
			failed++
			if strings.Contains(evaluation.Err.Error(), "no such key") && len(reads) == 0 {
				t.Errorf("%s is guarded, but fails for %v: %v", source, object, evaluation.Err)
			}
		}
	}
	if guarded < 50 || failed < 50 {
		t.Errorf("only %d expressions are guarded, and only %d evaluations fail", guarded, failed)
	}
}
