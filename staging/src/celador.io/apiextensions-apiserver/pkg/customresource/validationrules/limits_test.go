// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"
)

// TestLimits compares what ends an evaluation with Kubernetes: limits of costs, and cancelled
// requests.
func TestLimits(t *testing.T) {
	const expensive = "self.all(a, self.all(b, size(a + b) > 0))"
	many, long := make([]any, 300), make([]any, 20)
	for i := range many {
		many[i] = "item"
	}
	for i := range long {
		long[i] = strings.Repeat("long", 10000)
	}
	for name, test := range map[string]struct {
		rules  apiextensionsv1.ValidationRules
		item   string // a rule of the items
		list   []any
		budget int64
		cancel bool
		want   string // in an error
	}{
		"call": {
			rules: apiextensionsv1.ValidationRules{{Rule: expensive}, {Rule: "false"}},
			list:  long, budget: math.MaxInt64, want: "call cost exceeds limit for rule",
		},
		"call of a messageExpression": {
			rules: apiextensionsv1.ValidationRules{{Rule: "false", MessageExpression: expensive + " ? 'a' : 'b'"}, {Rule: "false"}},
			list:  long, budget: math.MaxInt64, want: "call cost exceeds limit for messageExpression",
		},
		"budget": {
			rules:  apiextensionsv1.ValidationRules{{Rule: "self.all(a, self.exists(b, a == b))"}, {Rule: "false"}},
			budget: 20, want: "running out of cost budget",
		},
		"budget of a messageExpression": {
			rules:  apiextensionsv1.ValidationRules{{Rule: "false", MessageExpression: "self.all(a, a == 'item') ? 'a' : 'b'"}, {Rule: "false"}},
			budget: 20, want: "messageExpression evaluation failed due to running out of cost budget",
		},
		"budget of all items": {item: "self != 'item'", budget: 20, want: "running out of cost budget"},
		"no budget":           {rules: apiextensionsv1.ValidationRules{{Rule: "true"}}, budget: 0, want: "running out of cost budget"},
		"exact budget":        {rules: apiextensionsv1.ValidationRules{{Rule: "self.size() > 1000"}}, budget: 3, want: "failed rule"},
		"cancelled":           {rules: apiextensionsv1.ValidationRules{{Rule: "self.all(a, self.all(b, a == b))"}}, budget: math.MaxInt64, cancel: true, want: "operation interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			items := structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
			if test.item != "" {
				items.XValidations = apiextensionsv1.ValidationRules{{Rule: test.item}}
			}
			if test.list == nil {
				test.list = many
			}
			schema := structuralschema.Structural{Generic: structuralschema.Generic{Type: "array"}, Items: &items}
			schema.XValidations = test.rules
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.cancel {
				cancel()
			}
			warnings := &recorder{}
			errs, remaining := cel.NewValidator(schema.DeepCopy(), false, celconfig.PerCallLimit).Validate(ctx, nil, &schema, test.list, nil, test.budget)
			want := newOutcome(errs, warnings, remaining)
			errs, remaining = validationrules.Take(schema.DeepCopy(), false).Evaluate(ctx, validationrules.Instance{Value: test.list, Budget: test.budget})
			got := newOutcome(errs, warnings, remaining)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-Kubernetes +Celador:\n%s", diff)
			}
			if !strings.Contains(strings.Join(got.Errors, "\n"), test.want) {
				t.Errorf("want %q, got %q", test.want, got.Errors)
			}
		})
	}
}
