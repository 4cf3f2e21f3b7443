// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/matchconditions"
)

// Traced returns the webhook with match conditions that report to the tracer of the compiler, which
// must have one. In place of a policy, the tracer gets the name of the configuration. path is the
// field of the webhook in the configuration; the fields of the conditions are below it.
func (w *Webhook) Traced(compiler *expression.Compiler, configuration string, path *field.Path) *Webhook {
	traced := *w
	conditions := matchconditions.Compile(compiler, w.matchConditions)
	for i := range conditions {
		if program := conditions[i].Program; program != nil {
			compiler.Tracer().Compiled(configuration, path.Child("matchConditions").Index(i).Child("expression").String(), program)
		}
	}
	traced.conditions = func() matchconditions.Conditions { return conditions }
	return &traced
}
