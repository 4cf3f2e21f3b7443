// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"
)

// TestUpstream compares the outcome of generated rules with Kubernetes', on generated schemas and
// updates.
func TestUpstream(t *testing.T) {
	const schemas, updates = 400, 8
	outcomes := map[string]int{}
	for seed := range uint64(schemas) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 18)), single: seed%2 == 0}
		schema := g.object(4)
		schema = g.ruled(schema)
		schema.XEmbeddedResource = false
		root := g.chance(70)
		kubernetes := cel.NewValidator(schema.DeepCopy(), root, celconfig.PerCallLimit)
		celador := validationrules.Take(schema.DeepCopy(), root)
		if celador == nil {
			if kubernetes != nil {
				t.Errorf("seed %d: Kubernetes finds rules", seed)
			}
			continue
		}
		for range updates {
			u := update{schema: &schema, budget: math.MaxInt64, value: g.value(&schema)}
			if root {
				addType(u.value.(map[string]any))
			}
			if g.chance(70) {
				u.old, u.ratchet = g.changed(&schema, u.value), g.chance(80)
			}
			if g.single && g.chance(50) {
				u.budget = int64(g.IntN(120))
			}
			before := runtime.DeepCopyJSONValue(u.value)
			want, got := u.kubernetes(kubernetes), u.celador(celador)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d, budget %d, ratcheting %t (-want +got):\n%s\nnew: %s\nold: %s", seed, u.budget, u.ratchet, diff, text(u.value), text(u.old))
			}
			if diff := cmp.Diff(before, u.value); diff != "" {
				t.Errorf("seed %d: the value changed:\n%s", seed, diff)
			}
			want.count(outcomes)
		}
	}
	t.Log(outcomes)
	for _, outcome := range []string{"valid", "failed rule", "warning", "no such key", "no such overload", "division by zero", "compilation failed", "budget"} {
		if outcomes[outcome] == 0 {
			t.Errorf("no update had the outcome %q", outcome)
		}
	}
}

func addType(object map[string]any) {
	object["apiVersion"], object["kind"] = "example.com/v1", "K"
	object["metadata"] = map[string]any{"name": "n"}
}

// An update is a value with the value before, which is nil if it is created.
type update struct {
	schema     *structuralschema.Structural
	value, old any
	ratchet    bool
	budget     int64
}

// An outcome is comparable: errors are sorted by field only, because Kubernetes visits the entries
// of maps in random order.
type outcome struct {
	Errors    []string
	Warnings  []string
	Remaining int64
}

func (u update) kubernetes(v *cel.Validator) outcome {
	var options []cel.Option
	if u.ratchet {
		options = append(options, cel.WithRatcheting(u.correlation()))
	}
	warnings := &recorder{}
	if v == nil { // no rule applies to a field that expressions can read
		return outcome{Remaining: u.budget}
	}
	errs, remaining := v.Validate(warning.WithWarningRecorder(context.Background(), warnings), field.NewPath("root"), u.schema, u.value, u.old, u.budget, options...)
	return newOutcome(errs, warnings, remaining)
}

func (u update) celador(r *validationrules.Rules) outcome {
	instance := validationrules.Instance{Path: field.NewPath("root"), Value: u.value, Old: u.old, Budget: u.budget}
	if u.ratchet {
		correlation := u.correlation()
		instance.Correlation = func() *common.CorrelatedObject { return correlation }
	}
	warnings := &recorder{}
	errs, remaining := r.Evaluate(warning.WithWarningRecorder(context.Background(), warnings), instance)
	return newOutcome(errs, warnings, remaining)
}

func (u update) correlation() *common.CorrelatedObject {
	return common.NewCorrelatedObject(u.value, u.old, &model.Structural{Structural: u.schema})
}

// typeName matches the names of types without fixed names.
var typeName = regexp.MustCompile(`selfType[0-9]*`)

func newOutcome(errs field.ErrorList, warnings *recorder, remaining int64) outcome {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	o := outcome{Remaining: remaining}
	for _, err := range errs {
		o.Errors = append(o.Errors, typeName.ReplaceAllString(fmt.Sprintf("%s %s %#v %s %s", err.Field, err.Type, err.BadValue, err.Detail, err.Origin), "selfType"))
	}
	o.Warnings = slices.Sorted(slices.Values(warnings.texts))
	return o
}

func (o outcome) count(outcomes map[string]int) {
	if len(o.Errors)+len(o.Warnings) == 0 {
		outcomes["valid"]++
	}
	if len(o.Warnings) > 0 {
		outcomes["warning"]++
	}
	for _, err := range o.Errors {
		for _, part := range []string{"failed rule", "no such key", "no such overload", "division by zero", "compilation failed", "budget"} {
			if strings.Contains(err, part) {
				outcomes[part]++
			}
		}
	}
}

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }

func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
