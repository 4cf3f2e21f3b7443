// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/expression"
	"celador.io/admission/webhook"
)

// evaluations records the values of expressions by their fields.
type evaluations struct {
	fields map[*expression.Program]string
	seen   []string
}

func (e *evaluations) Compiled(configuration, path string, program *expression.Program) {
	e.fields[program] = configuration + " " + path
}

func (e *evaluations) Evaluated(_ context.Context, program *expression.Program, steps []expression.Step, _ uint64) {
	e.seen = append(e.seen, fmt.Sprintf("%s: %v", e.fields[program], steps[len(steps)-1].Value))
}

// TestTracer checks that a tracer sees the match conditions of each webhook, also those that
// untraced webhooks evaluate once.
func TestTracer(t *testing.T) {
	e := &evaluations{fields: map[*expression.Program]string{}}
	compiler := expression.Default().Traced(e)
	var traced []*webhook.Webhook
	for i, conditions := range [][]string{{"object.spec.nodeName == 'n'"}, {"object.spec.nodeName == 'n'", "object.spec.nodeName == 'm'"}, {"no such thing"}} {
		w := conditional(conditions...)
		traced = append(traced, webhook.CompileValidating(&w).Traced(compiler, "w", field.NewPath("webhooks").Index(i)))
	}
	request := webhook.NewSet(traced).NewRequest(t.Context(), creation(), objects, webhook.Config{})
	for position, want := range []webhook.Applicability{{Matches: true}, {Excluded: true, Condition: "c1"}} {
		decision, err := match(request, position)
		if err != nil || decision.Matches != want.Matches || decision.Condition != want.Condition {
			t.Errorf("decision of webhook %d is %+v, want %+v, error %v", position, decision, want, err)
		}
	}
	if len(e.fields) != 3 {
		t.Errorf("expressions %v, want those of the first 2 webhooks, because the last one does not compile", e.fields)
	}
	want := []string{
		"w webhooks[0].matchConditions[0].expression: true",
		"w webhooks[1].matchConditions[0].expression: true",
		"w webhooks[1].matchConditions[1].expression: false",
	}
	if diff := cmp.Diff(want, e.seen); diff != "" {
		t.Errorf("evaluations (-want +got):\n%s", diff)
	}
}
