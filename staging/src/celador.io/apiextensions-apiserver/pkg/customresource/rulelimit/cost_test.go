// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulelimit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/jsonlibrary"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
)

const schema = `
type: object
properties:
  name: {type: string}
  groups:
    type: array
    items:
      type: object
      properties:
        name: {type: string}
        members: {type: array, items: {type: object, properties: {name: {type: string}, tags: {type: array, items: {type: string}}}}}
  labels: {type: object, additionalProperties: {type: string}}
  open: {x-kubernetes-preserve-unknown-fields: true}
`

func parse(t *testing.T) *model.Structural {
	t.Helper()
	var external apiextensionsv1.JSONSchemaProps
	var internal apiextensions.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(schema), &external); err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return &model.Structural{Structural: structural}
}

// A generator makes expressions and objects of the schema.
type generator struct{ *rand.Rand }

func (g generator) pick(of ...string) string { return of[g.IntN(len(of))] }

// list returns an expression for a list, and text one for a text. in are the variables for groups,
// members and texts around it.
func (g generator) list(depth int, in []string) (expression, kind string) {
	lists := [][2]string{{"self.groups", "g"}, {"self.?groups.orValue([])", "g"}, {"['a', 'bcd']", "t"}, {"self.labels.map(k, self.labels[k])", "t"}}
	for _, v := range in {
		switch v[0] {
		case 'g':
			lists = append(lists, [2]string{v + ".members", "m"}, [2]string{v + ".?members.orValue([])", "m"})
		case 'm':
			lists = append(lists, [2]string{v + ".tags", "t"})
		case 't':
			lists = append(lists, [2]string{v + ".split('a')", "t"})
		}
	}
	chosen := lists[g.IntN(len(lists))]
	expression, kind = chosen[0], chosen[1]
	if depth == 0 {
		return expression, kind
	}
	v := fmt.Sprint(kind, depth)
	inner := append(in[:len(in):len(in)], v)
	switch g.IntN(9) {
	case 0:
		return fmt.Sprintf("%s.filter(%s, %s)", expression, v, g.condition(depth-1, inner)), kind
	case 1:
		return fmt.Sprintf("%s.map(%s, %s)", expression, v, g.text(depth-1, inner)), "t"
	case 2:
		nested, nestedKind := g.list(depth-1, inner)
		return fmt.Sprintf("%s.map(%s, %s).flatten()", expression, v, nested), nestedKind
	case 3:
		return fmt.Sprintf("(%s ? %s : [])", g.condition(depth-1, in), expression), kind
	case 4:
		return fmt.Sprintf("(%s + %s)", expression, expression), kind
	case 5:
		return fmt.Sprintf("lists.range(size(%s)).map(i%s, %s[i%s])", expression, v, expression, v), kind
	case 6:
		return fmt.Sprintf("%s.transformList(i%s, %s, %s[i%s])", expression, v, v, expression, v), kind
	case 7:
		if kind == "t" {
			return expression + g.pick(".distinct()", ".sort()", ".reverse()"), kind
		}
	}
	return expression, kind
}

func (g generator) text(depth int, in []string) string {
	texts := []string{"self.name", "self.?name.orValue('')", "'constant'"}
	for _, v := range in {
		switch v[0] {
		case 'g', 'm':
			texts = append(texts, v+".name", v+".?name.orValue('none')")
		default:
			texts = append(texts, v)
		}
	}
	chosen := g.pick(texts...)
	if depth == 0 {
		return chosen
	}
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s + %s)", chosen, g.text(depth-1, in))
	case 1:
		return chosen + g.pick(".upperAscii()", ".replace('a', 'bbb')", ".trim()")
	case 2:
		if list, kind := g.list(depth-1, in); kind == "t" {
			return list + ".join('--')"
		}
	case 3:
		list, _ := g.list(depth-1, in)
		return "json.encode(" + list + ")"
	case 4:
		return fmt.Sprintf("(%s ? %s : %s)", g.condition(depth-1, in), chosen, g.text(depth-1, in))
	}
	return chosen
}

func (g generator) condition(depth int, in []string) string {
	if depth > 0 && g.IntN(2) == 0 {
		list, kind := g.list(depth-1, in)
		v := fmt.Sprint(kind, "x", depth)
		return fmt.Sprintf("%s.%s(%s, %s)", list, g.pick("exists", "all"), v, g.condition(depth-1, append(in[:len(in):len(in)], v)))
	}
	if g.IntN(2) == 0 {
		return fmt.Sprintf("%s.contains(%s)", g.text(max(depth-1, 0), in), g.text(0, in))
	}
	return fmt.Sprintf("%s %s %s", g.text(max(depth-1, 0), in), g.pick("==", "!=", "<"), g.text(0, in))
}

// object returns an object whose lists have up to n items, and its size.
func (g generator) object(n int) (map[string]any, schemaexpression.ObjectSize) {
	var groups, members, tags, characters int
	text := func() string {
		s := strings.Repeat(g.pick("a", "b", "é"), g.IntN(n+1))
		characters += len(s)
		return s
	}
	list := func(count *int, item func() any) []any {
		items := []any{}
		for range g.IntN(n + 1) {
			*count++
			items = append(items, item())
			// The text of an object includes the names of fields and punctuation.
			characters += 32
		}
		return items
	}
	labels := map[string]any{}
	for i := range g.IntN(n + 1) {
		key := fmt.Sprint("label", i)
		characters += len(key)
		labels[key] = text()
	}
	object := map[string]any{
		"name": text(), "labels": labels,
		"groups": list(&groups, func() any {
			return map[string]any{"name": text(), "members": list(&members, func() any {
				return map[string]any{"name": text(), "tags": list(&tags, func() any { return text() })}
			})}
		}),
	}
	return object, schemaexpression.ObjectSize{Entries: float64(max(groups, members, tags, len(labels))), Text: float64(characters + 256)}
}

// TestEstimates compares estimates with what evaluations cost: an object never costs more than the
// estimate for its size.
func TestEstimates(t *testing.T) {
	structural := parse(t)
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(jsonlibrary.Options())
	if err != nil {
		t.Fatal(err)
	}
	env, err := schemaexpression.NewCompiler(base).Environment(schemaexpression.Scope{
		Self: model.SchemaDeclType(structural.Structural, false).MaybeAssignTypeName("object(v1)"), NullResults: true, CostLimit: rulelimit.MaxObjectCost,
	}, environment.NewExpressions)
	if err != nil {
		t.Fatal(err)
	}
	values := schemaexpression.NewSchema(structural)
	g := generator{rand.New(rand.NewPCG(3, 4))}
	evaluated, within := 0, 0
	for range 1500 {
		source := g.text(4, nil)
		expression, celErr := env.Compile(source)
		if celErr != nil {
			t.Fatalf("%s: %v", source, celErr)
		}
		program, err := expression.Program()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 3, 12} {
			object, size := g.object(n)
			estimate, err := expression.MaxCost(size)
			if err != nil {
				t.Fatal(err)
			}
			evaluation := program.Evaluate(t.Context(), &schemaexpression.Activation{Self: schemaexpression.Value(object, values), StopAtCostLimit: true})
			if !evaluation.HasCost || evaluation.Err != nil && evaluation.Cost <= rulelimit.MaxObjectCost {
				continue
			}
			evaluated++
			if float64(evaluation.Cost) > estimate {
				t.Errorf("%s costs %d for an object of size %v, and is estimated as %.0f", source, evaluation.Cost, size, estimate)
			}
			if estimate < 100*float64(evaluation.Cost+10) {
				within++
			}
		}
	}
	if evaluated < 3000 || within < evaluated/2 {
		t.Errorf("%d evaluations, %d of them not far below their estimates", evaluated, within)
	}
}
