// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// messages are examples of message and messageExpression.
func messages() map[string]example {
	denial := func(v v1.Validation, message string) example {
		if v.Expression == "" {
			v.Expression = few
		}
		return example{spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{v}}, want: says("denied: " + message)}
	}
	const missing = "failed expression: " + few
	result := map[string]example{
		"fixed":                 denial(v1.Validation{Message: "  too many  "}, "too many"),
		"fixed and blank":       denial(v1.Validation{Message: " \t"}, missing),
		"computed":              denial(v1.Validation{MessageExpression: "' ' + string(object.spec.replicas) + ' are too many '", Message: "fixed"}, "9 are too many"),
		"empty":                 denial(v1.Validation{MessageExpression: "''", Message: "fixed"}, "fixed"),
		"blank":                 denial(v1.Validation{MessageExpression: "'  '"}, missing),
		"of two lines":          denial(v1.Validation{MessageExpression: "'one\\ntwo'", Message: "fixed"}, "fixed"),
		"with a last newline":   denial(v1.Validation{MessageExpression: "'one\\n'", Message: "fixed"}, "one"),
		"with other whitespace": denial(v1.Validation{MessageExpression: "'one\\ttwo\\rthree'"}, "one\ttwo\rthree"),
		"fails":                 denial(v1.Validation{MessageExpression: "string(object.spec.missing)", Message: "fixed"}, "fixed"),
		"fails, none fixed":     denial(v1.Validation{MessageExpression: "string(object.spec.missing)"}, missing),
		"does not compile":      denial(v1.Validation{MessageExpression: "'one' +", Message: "fixed"}, "fixed"),
		"is no string":          denial(v1.Validation{MessageExpression: "1"}, missing),
		"may be no string":      denial(v1.Validation{MessageExpression: "dyn(1)", Message: "fixed"}, "fixed"),
		"asks authorizer":       denial(v1.Validation{MessageExpression: "authorizer.path('/').check('get').reason()", Message: "fixed"}, "fixed"),
		"longest":               denial(v1.Validation{MessageExpression: "'" + repeat("é", 2560) + "'", Message: "fixed"}, repeat("é", 2560)),
		"too long":              denial(v1.Validation{MessageExpression: "'" + repeat("é", 2560) + "e'", Message: "fixed"}, "fixed"),
		"long before trimming":  denial(v1.Validation{MessageExpression: "'" + repeat(" ", 5200) + "e'", Message: "fixed"}, "e"),
		"too long, none fixed":  denial(v1.Validation{MessageExpression: "'" + repeat("a", 5121) + "'"}, missing),
		"from the request":      denial(v1.Validation{MessageExpression: "request.operation + ' by ' + request.userInfo.username + ' in ' + namespaceObject.metadata.name"}, "CREATE by jane in blue"),
		"of an error":           denial(v1.Validation{Expression: failing, MessageExpression: "'computed'", Message: "fixed"}, failingFailed[len("denied: "):]),
		"expression is trimmed": denial(v1.Validation{Expression: "\n  " + few + "\n"}, missing),
		"like a compile error":  denial(v1.Validation{Message: "compilation of the chart is missing"}, "compilation of the chart is missing"),
		"like a budget error":   denial(v1.Validation{MessageExpression: "'validation failed due to running out of cost budget' + '!'"}, "validation failed due to running out of cost budget!"),
		"with markup":           denial(v1.Validation{Message: "<no> & \"never\""}, "<no> & \"never\""),
	}
	result["of the second"] = example{
		spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{
			{Expression: "true", Message: "first"}, {Expression: few, MessageExpression: "'sec' + 'ond'"}, {Expression: "false"},
		}},
		want: says("denied: second"),
	}
	result["from a variable"] = example{
		spec: v1.ValidatingAdmissionPolicySpec{
			Variables:   let("text", "'have ' + string(object.spec.replicas)"),
			Validations: []v1.Validation{{Expression: few, MessageExpression: "variables.text"}},
		},
		want: says("denied: have 9"),
	}
	return result
}
