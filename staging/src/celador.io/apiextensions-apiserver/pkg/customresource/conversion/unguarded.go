// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"

	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// unguarded returns a warning about the rules that may fail for valid objects, because they read a
// value that may be unset, without a check such as has() before it.
func (c *checkedRules) unguarded() []string {
	var failing []string
	var example *ruleschema.UnsetValue
	for i, rule := range c.rules {
		unset := ruleschema.Unset(rule.source, c.edge.from.source().schema, rule.expression.UnguardedReads(spelled(rule.scope)...))
		if len(unset) == 0 {
			continue
		}
		if example == nil {
			example = &unset[0]
		}
		failing = append(failing, fmt.Sprintf("rules[%d] reads %s", i, ruleerror.Paths(unset)))
	}
	if len(failing) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: objects in %s that lack what a rule reads cannot be converted: %s. %s",
		c.path, c.edge.from.name, ruleerror.List(failing, maxWarned, ", ", " rules"), ruleerror.GuardAdvice(*example))}
}

// spelled returns the segments of a scope as expressions spell them.
func spelled(scope rulepath.Path) []string {
	steps := make([]string, len(scope))
	for i, step := range scope {
		steps[i] = step.Name
		if name, ok := apiservercel.Escape(step.Name); ok {
			steps[i] = name
		}
		if step.Each {
			steps[i] = schemaexpression.Entry
		}
	}
	return steps
}
