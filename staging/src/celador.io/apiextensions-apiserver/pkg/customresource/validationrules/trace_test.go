// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"
)

// evaluations records the values of expressions by their fields.
type evaluations struct {
	fields map[*schemaexpression.Program]string
	seen   []string
}

func (e *evaluations) Compiled(definition, path string, program *schemaexpression.Program) {
	e.fields[program] = definition + " " + path
}

func (e *evaluations) Evaluated(_ context.Context, program *schemaexpression.Program, steps []schemaexpression.Step, _ uint64) {
	e.seen = append(e.seen, fmt.Sprintf("%s: %v", e.fields[program], steps[len(steps)-1].Value))
}

// TestTracer compares the errors of traced rules with those of others, and with what the tracer
// sees.
func TestTracer(t *testing.T) {
	rules := func(sources ...string) (rules apiextensionsv1.ValidationRules) {
		for _, source := range sources {
			rules = append(rules, apiextensionsv1.ValidationRule{Rule: source, MessageExpression: "'not ' + string(self)"})
		}
		return rules
	}
	number := structuralschema.Structural{
		Generic: structuralschema.Generic{Type: "integer"}, ValidationExtensions: structuralschema.ValidationExtensions{XValidations: rules("self < 5", "no such thing", "oldSelf < self")},
		ValueValidation: &structuralschema.ValueValidation{AllOf: []structuralschema.NestedValueValidation{
			{}, {ValidationExtensions: structuralschema.ValidationExtensions{XValidations: rules("self != 3")}},
		}},
	}
	schema := &structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: map[string]structuralschema.Structural{
		"a": number,
		"b": {Generic: structuralschema.Generic{Type: "array"}, Items: &number},
		"c": {Generic: structuralschema.Generic{Type: "object"}, AdditionalProperties: &structuralschema.StructuralOrBool{Structural: &number}},
	}}
	e := &evaluations{fields: map[*schemaexpression.Program]string{}}
	traced := validationrules.TakeTraced(schema.DeepCopy(), true, e, "definition", field.NewPath("schema"))
	var want []string
	for _, node := range []string{"properties[a]", "properties[b].items", "properties[c].additionalProperties"} {
		for _, rule := range []string{"x-kubernetes-validations[0]", "x-kubernetes-validations[2]", "allOf[1].x-kubernetes-validations[0]"} {
			want = append(want, "definition schema."+node+"."+rule+".messageExpression", "definition schema."+node+"."+rule+".rule")
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Values(e.fields))); diff != "" {
		t.Errorf("expressions (-want +got):\n%s", diff)
	}

	object := map[string]any{"a": int64(5), "b": []any{int64(3)}, "c": map[string]any{"d": int64(1)}}
	old := map[string]any{"a": int64(4)}
	untraced := validationrules.Take(schema.DeepCopy(), true)
	if diff := cmp.Diff(untraced.Validate(t.Context(), object, old).ToAggregate().Error(), traced.Validate(t.Context(), object, old).ToAggregate().Error()); diff != "" {
		t.Errorf("errors without tracer (-) and with it (+):\n%s", diff)
	}
	want = []string{
		"definition schema.properties[a].x-kubernetes-validations[0].rule: false",
		"definition schema.properties[a].x-kubernetes-validations[0].messageExpression: not 5",
		"definition schema.properties[a].x-kubernetes-validations[2].rule: true",
		"definition schema.properties[a].allOf[1].x-kubernetes-validations[0].rule: true",
		"definition schema.properties[b].items.x-kubernetes-validations[0].rule: true",
		"definition schema.properties[b].items.allOf[1].x-kubernetes-validations[0].rule: false",
		"definition schema.properties[b].items.allOf[1].x-kubernetes-validations[0].messageExpression: not 3",
		"definition schema.properties[c].additionalProperties.x-kubernetes-validations[0].rule: true",
		"definition schema.properties[c].additionalProperties.allOf[1].x-kubernetes-validations[0].rule: true",
	}
	if diff := cmp.Diff(want, e.seen); diff != "" {
		t.Errorf("evaluations (-want +got):\n%s", diff)
	}
}
