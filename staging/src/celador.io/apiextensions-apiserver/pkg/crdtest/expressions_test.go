// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdtest_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/cel-go/common/types"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
)

// A rules node holds the programs of the rules of a schema and of its parts.
type rules struct {
	programs   []*schemaexpression.Program
	schema     *schemaexpression.Schema
	properties map[string]*rules
	items      *rules
}

// compile compiles the rules of a schema, which has a type. It returns nil if there are none.
func compile(t testing.TB, compiler *schemaexpression.Compiler, s *structuralschema.Structural, self *apiservercel.DeclType) *rules {
	r := &rules{properties: map[string]*rules{}}
	if len(s.XValidations) > 0 {
		r.schema = schemaexpression.NewSchema(&model.Structural{Structural: s})
		env, err := compiler.Environment(schemaexpression.Scope{Self: self.MaybeAssignTypeName("selfType"), OldSelf: schemaexpression.PlainOldSelf}, environment.StoredExpressions)
		if err != nil {
			t.Fatal(err)
		}
		for _, rule := range s.XValidations {
			expression, invalid := env.Compile(rule.Rule)
			if invalid != nil {
				t.Fatal(invalid)
			}
			program, err := expression.Program()
			if err != nil {
				t.Fatal(err)
			}
			r.programs = append(r.programs, program)
		}
	}
	for name, property := range s.Properties {
		if field, ok := self.Fields[name]; ok {
			if p := compile(t, compiler, &property, field.Type); p != nil {
				r.properties[name] = p
			}
		}
	}
	if s.Items != nil {
		r.items = compile(t, compiler, s.Items, self.ElemType)
	}
	if r.programs == nil && r.items == nil && len(r.properties) == 0 {
		return nil
	}
	return r
}

// evaluate evaluates the rules for a value. It returns their total cost.
func (r *rules) evaluate(t testing.TB, value any) (cost uint64) {
	if len(r.programs) > 0 {
		in := &schemaexpression.Activation{Self: schemaexpression.Value(value, r.schema)}
		for _, program := range r.programs {
			e := program.Evaluate(t.Context(), in)
			if e.Value != types.True {
				t.Fatalf("%s: %v, %v", program.Source(), e.Value, e.Err)
			}
			cost += e.Cost
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for name, property := range r.properties {
			if v, ok := value[name]; ok {
				cost += property.evaluate(t, v)
			}
		}
	case []any:
		if r.items != nil {
			for _, item := range value {
				cost += r.items.evaluate(t, item)
			}
		}
	}
	return cost
}

func (r *rules) count() (planned, all int) {
	for _, program := range r.programs {
		planned, all = planned+program.Planned(), all+1
	}
	children := []*rules{r.items}
	for _, property := range r.properties {
		children = append(children, property)
	}
	for _, child := range children {
		if child != nil {
			p, a := child.count()
			planned, all = planned+p, all+a
		}
	}
	return planned, all
}

func httpRouteSchema(t testing.TB) *structuralschema.Structural {
	schema := &apiextensions.JSONSchemaProps{}
	crd := crdtest.HTTPRoute("v1")
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, schema, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		t.Fatal(err)
	}
	return structural
}

func newCompiler() *schemaexpression.Compiler {
	return schemaexpression.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
}

// TestRules compares the total cost of all rules with Kubernetes' validator, and requires closures
// for all of them.
func TestRules(t *testing.T) {
	schema := httpRouteSchema(t)
	rules := compile(t, newCompiler(), schema, model.SchemaDeclType(schema, true))
	if planned, all := rules.count(); planned != all || all != 72 {
		t.Errorf("closures evaluate %d of %d rules", planned, all)
	}
	object := crdtest.HTTPRouteObject("v1").Object
	cost := rules.evaluate(t, object)
	errs, remaining := cel.NewValidator(schema, true, celconfig.PerCallLimit).Validate(context.Background(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget)
	if want := uint64(celconfig.RuntimeCELCostBudget - remaining); len(errs) > 0 || cost != want {
		t.Errorf("the rules cost %d, want %d: %v", cost, want, errs)
	}
}

// BenchmarkCompile compiles the rules of a resource with two versions of the same schema.
func BenchmarkCompile(b *testing.B) {
	compiler := newCompiler()
	compile(b, compiler, httpRouteSchema(b), model.SchemaDeclType(httpRouteSchema(b), true))
	measure := func(b *testing.B, compileBoth func(*structuralschema.Structural) [2]any) {
		var kept [][2]any
		before := heap()
		for range 10 {
			kept = append(kept, compileBoth(uniqueSchema(b)))
		}
		perResource := float64(heap()-before) / 10
		runtime.KeepAlive(kept)
		kept = nil
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			schema := uniqueSchema(b)
			b.StartTimer()
			compileBoth(schema)
		}
		b.ReportMetric(perResource, "heap-B/op")
	}
	b.Run("celador", func(b *testing.B) {
		measure(b, func(schema *structuralschema.Structural) [2]any {
			v1 := compile(b, compiler, schema, model.SchemaDeclType(schema, true))
			return [2]any{v1, compile(b, compiler, schema, model.SchemaDeclType(schema, true))}
		})
	})
	b.Run("kubernetes", func(b *testing.B) {
		measure(b, func(schema *structuralschema.Structural) [2]any {
			return [2]any{cel.NewValidator(schema, true, celconfig.PerCallLimit), cel.NewValidator(schema, true, celconfig.PerCallLimit)}
		})
	})
}

var schemas int

// uniqueSchema returns a schema whose rules share no programs with those of other schemas.
func uniqueSchema(b *testing.B) *structuralschema.Structural {
	schemas++
	schema := httpRouteSchema(b)
	comment(schema, fmt.Sprintf(" // %d", schemas))
	return schema
}

// comment appends a comment to all rules.
func comment(s *structuralschema.Structural, text string) {
	for i := range s.XValidations {
		s.XValidations[i].Rule += text
	}
	for name, property := range s.Properties {
		comment(&property, text)
		s.Properties[name] = property
	}
	if s.Items != nil {
		comment(s.Items, text)
	}
}

func heap() uint64 {
	var stats runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// BenchmarkEvaluate evaluates the rules for a valid object.
func BenchmarkEvaluate(b *testing.B) {
	schema, object := httpRouteSchema(b), crdtest.HTTPRouteObject("v1").Object
	b.Run("celador", func(b *testing.B) {
		rules := compile(b, newCompiler(), schema, model.SchemaDeclType(schema, true))
		b.ReportAllocs()
		for b.Loop() {
			rules.evaluate(b, object)
		}
	})
	b.Run("kubernetes", func(b *testing.B) {
		validator := cel.NewValidator(schema, true, celconfig.PerCallLimit)
		b.ReportAllocs()
		for b.Loop() {
			if errs, _ := validator.Validate(b.Context(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget); len(errs) > 0 {
				b.Fatal(errs)
			}
		}
	})
}
