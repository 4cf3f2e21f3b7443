// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/matchconditions"
)

// Traced returns the webhook with match conditions that report to the tracer of the compiler. It
// calls Compiled of the tracer with the name of the configuration instead of a policy, and with
// fields below path, which is the webhook's in the configuration. compiler must be traced.
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
