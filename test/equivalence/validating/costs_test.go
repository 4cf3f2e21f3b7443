// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"fmt"
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
)

// search searches a text in itself, which costs the square of a tenth of its length.
const search = "variables.text.contains(variables.text)"

// costing returns a variable with a text whose search costs the given units.
func costing(units int) v1.Variable {
	length := 10
	for length*length < units*100 {
		length += 10
	}
	return v1.Variable{Name: "text", Expression: "'" + repeat("a", length) + "'"}
}

func times(n int) []v1.Validation { return slices.Repeat(validating(search), n) }

// loopOf returns a spec with nested loops.
func loopOf(depth int) v1.ValidatingAdmissionPolicySpec {
	expression := "true"
	for i := range depth {
		expression = fmt.Sprintf("variables.list.all(x%d, %s)", i, expression)
	}
	return v1.ValidatingAdmissionPolicySpec{Variables: let("list", "[0,1,2,3,4,5,6,7,8,9].map(x, x)"), Validations: validating(expression)}
}

// costs are examples of cost limits: 1,000,000 units for each call, 2,500,000 for all match
// conditions, and 10,000,000 each for all validations with their messages and for all audit
// annotations.
func costs() map[string]example {
	const (
		exceeded        = "denied: validation failed due to running out of cost budget, no further validation rules will be run"
		messageExceeded = "denied: failed messageExpression: validation failed due to running out of cost budget, no further validation rules will be run"
		tooExpensive    = "denied: expression '" + search + "' resulted in error: operation cancelled: actual cost limit exceeded"
	)
	expensive := []v1.Variable{costing(900_000)}
	condition := func(n int) (result []v1.MatchCondition) {
		for i := range n {
			result = append(result, v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: search})
		}
		return result
	}
	noting := func(n int) []v1.AuditAnnotation { return note(slices.Repeat([]string{"string(" + search + ")"}, n)...) }
	noted := func(n int) (result []string) {
		for i := range n {
			result = append(result, fmt.Sprintf("noted key%d=true", i))
		}
		return result
	}
	denials := func(n int) []v1.Validation {
		result := slices.Repeat(validating("!"+search), n)
		for i := range result {
			result[i].MessageExpression = search + " ? 'one' : 'two'"
		}
		return result
	}
	spec := func(validations []v1.Validation) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{Variables: expensive, Validations: validations}
	}
	conditional := spec(validating(few))
	annotated := spec(validating(few))
	with := func(spec v1.ValidatingAdmissionPolicySpec, conditions, annotations int) v1.ValidatingAdmissionPolicySpec {
		spec.MatchConditions, spec.AuditAnnotations = condition(conditions), noting(annotations)
		return spec
	}
	// CEL does not evaluate an index whose operand is an error.
	unread := func(indexed string) v1.ValidatingAdmissionPolicySpec {
		spec := ignoring(v1.ValidatingAdmissionPolicySpec{Variables: slices.Concat(expensive, let("bad", "object.spec.missing")), Validations: validating("false")})
		var expressions []string
		for i := range 3 {
			name := fmt.Sprint("found", i)
			spec.Variables = append(spec.Variables, let(name, search+" ? 0 : 1")...)
			expressions = append(expressions, indexed+"[variables."+name+"] == 1 || true")
		}
		spec.MatchConditions = when(expressions...)
		return spec
	}
	loop, endless := loopOf(3), loopOf(6)
	// Each evaluation takes a tenth of a second, so only few requests reach it.
	endless.MatchConditions = when("request.dryRun")
	return map[string]example{
		"one call, just enough":              {spec: v1.ValidatingAdmissionPolicySpec{Variables: []v1.Variable{costing(990_000)}, Validations: times(1)}},
		"one call, too much":                 {spec: v1.ValidatingAdmissionPolicySpec{Variables: []v1.Variable{costing(1_100_000)}, Validations: times(1)}, want: says(tooExpensive)},
		"one call, too much, ignored":        {spec: ignoring(v1.ValidatingAdmissionPolicySpec{Variables: []v1.Variable{costing(1_100_000)}, Validations: append(times(1), validating("false")...)}), want: says(neverDenied)},
		"one variable, too much":             {spec: v1.ValidatingAdmissionPolicySpec{Variables: []v1.Variable{costing(1_100_000), {Name: "found", Expression: search}}, Validations: validating("variables.found")}, want: says("denied: expression 'variables.found' resulted in error: composited variable \"found\" fails to evaluate: operation cancelled: actual cost limit exceeded")},
		"variable is paid for once":          {spec: v1.ValidatingAdmissionPolicySpec{Variables: append(expensive, let("found", search)...), Validations: slices.Repeat(validating("variables.found"), 30)}},
		"failing variable, paid for once":    {spec: v1.ValidatingAdmissionPolicySpec{Variables: append(expensive, let("bad", search+" && object.missing")...), Validations: slices.Repeat(validating("variables.bad"), 30)}, want: says("denied: expression 'variables.bad' resulted in error: composited variable \"bad\" fails to evaluate: no such key: missing")},
		"validations, just enough":           {spec: spec(times(11))},
		"validations, too much":              {spec: spec(times(12)), want: says(exceeded)},
		"validations, too much, ignored":     {spec: ignoring(spec(append(times(12), validating("false")...)))},
		"validations, denial before":         {spec: spec(append(validating("false"), times(12)...)), want: says(exceeded)},
		"variables in validations, too much": {spec: v1.ValidatingAdmissionPolicySpec{Variables: slices.Concat(expensive, let("a", search, "b", search, "c", search, "d", search, "e", search, "f", search)), Validations: slices.Concat(times(6), validating("variables.a && variables.b && variables.c && variables.d && variables.e && variables.f"))}, want: says(exceeded)},
		"messages, just enough":              {spec: spec(denials(5)), want: says("denied: one")},
		"messages, too much":                 {spec: spec(denials(7)), want: says(messageExceeded)},
		"messages, too much, ignored":        {spec: ignoring(spec(denials(7)))},
		"messages, too much, other denials":  {spec: spec(append(validating("false"), denials(7)...)), want: says(messageExceeded)},
		"conditions, just enough":            {spec: with(conditional, 2, 0), want: says(fewDenied)},
		"conditions, too much":               {spec: with(conditional, 3, 0), want: says(exceeded)},
		"conditions, too much, ignored":      {spec: ignoring(with(conditional, 3, 0))},
		"conditions, variable not read":      {spec: unread("variables.bad"), want: says(neverDenied)},
		"conditions, not read in a list":     {spec: unread("[object.spec.missing]"), want: says(neverDenied)},
		"annotations, just enough":           {spec: with(annotated, 0, 11), want: says(append(noted(11), fewDenied)...)},
		"annotations, too much":              {spec: with(annotated, 0, 12), want: says(exceeded)},
		"annotations, too much, ignored":     {spec: ignoring(with(annotated, 0, 12))},
		"a budget for each":                  {spec: with(spec(times(11)), 2, 11), want: says(noted(11)...)},
		"a budget for each binding": {
			spec:     spec(times(8)),
			bindings: []*v1.ValidatingAdmissionPolicyBinding{bindingOf("a", usualPolicy, v1.Deny), bindingOf("b", usualPolicy, v1.Deny)},
		},
		"loops, just enough":       {spec: loop},
		"loops, too much":          {spec: endless, on: "create dry", want: says("denied: expression '" + endless.Validations[0].Expression + "' resulted in error: operation cancelled: actual cost limit exceeded")},
		"too deep is not compiled": {spec: v1.ValidatingAdmissionPolicySpec{Validations: validating(repeat("(", 300) + "true" + repeat(")", 300))}, want: says("denied: compilation error: compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250")},
	}
}
