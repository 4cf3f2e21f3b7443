// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// validations are examples of validations and their reasons.
func validations() map[string]example {
	spec := func(expressions ...string) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{Validations: validating(expressions...)}
	}
	reason := func(reason metav1.StatusReason) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: few, Reason: &reason}}}
	}
	return map[string]example{
		"none":                          {spec: spec()},
		"always":                        {spec: spec("true")},
		"never":                         {spec: spec("  false\n"), want: says(neverDenied)},
		"satisfied":                     {spec: spec(few), on: "create few"},
		"not satisfied":                 {spec: spec(few), want: says(fewDenied)},
		"first of two":                  {spec: spec(few, "true"), want: says(fewDenied)},
		"second of two":                 {spec: spec("true", few), want: says(fewDenied)},
		"two at once":                   {spec: spec(few, "object.spec.replicas <= 4"), want: says(fewDenied)},
		"runtime error":                 {spec: spec(failing), want: says(failingFailed)},
		"runtime error, ignored":        {spec: ignoring(spec(failing))},
		"denial and error":              {spec: spec(few, failing), want: says(fewDenied)},
		"error and denial":              {spec: spec(failing, few), want: says(failingFailed)},
		"error and denial, ignored":     {spec: ignoring(spec(failing, few)), want: says(fewDenied)},
		"does not compile":              {spec: spec(invalid), want: says(invalidFailed)},
		"does not compile, ignored":     {spec: ignoring(spec(invalid, few)), want: says(fewDenied)},
		"not a bool":                    {spec: spec(wrongType), want: says(notABool)},
		"not a bool at runtime":         {spec: spec("dyn(1)"), want: says("denied: compilation error: must evaluate to bool but got dyn")},
		"short circuit":                 {spec: spec("true || object.missing", "!(false && object.missing)")},
		"error absorbed by or":          {spec: spec("object.missing == 1 || true")},
		"error absorbed by and":         {spec: spec("object.missing == 1 && false"), want: says("denied: failed expression: object.missing == 1 && false")},
		"has":                           {spec: spec("has(object.spec.paused) || !has(object.spec.missing)")},
		"all":                           {spec: spec("object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))"), want: says("denied: failed expression: object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))")},
		"exists one":                    {spec: spec("object.spec.template.spec.containers.exists_one(c, c.name == 'main')")},
		"unequal types":                 {spec: spec("object.spec.replicas == '9'"), want: says("denied: failed expression: object.spec.replicas == '9'")},
		"no overload at runtime":        {spec: spec("object.spec.replicas.startsWith('9')"), want: says("denied: expression 'object.spec.replicas.startsWith('9')' resulted in error: no such overload")},
		"division by zero":              {spec: spec("1 / (object.spec.replicas - 9) == 0"), want: says("denied: expression '1 / (object.spec.replicas - 9) == 0' resulted in error: division by zero")},
		"index out of range":            {spec: spec("object.spec.template.spec.containers[7].name == ''"), want: says("denied: expression 'object.spec.template.spec.containers[7].name == ''' resulted in error: index out of bounds: 7")},
		"params that are not declared":  {spec: spec("params == null"), want: says("denied: compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^")},
		"a variable nobody declares":    {spec: spec("variables.a == 1"), want: says("denied: compilation error: compilation failed: ERROR: <input>:1:10: undefined field 'a'\n | variables.a == 1\n | .........^")},
		"conversion fails":              {spec: spec("int(object.metadata.name) == 1"), want: says("denied: expression 'int(object.metadata.name) == 1' resulted in error: type conversion error from 'string' to 'int'")},
		"conversion fails, ignored":     {spec: ignoring(spec("int(object.metadata.name) == 1"))},
		"reason Unauthorized":           {spec: reason(metav1.StatusReasonUnauthorized), want: says("denied (Unauthorized 401): failed expression: " + few)},
		"reason Forbidden":              {spec: reason(metav1.StatusReasonForbidden), want: says("denied (Forbidden 403): failed expression: " + few)},
		"reason Invalid":                {spec: reason(metav1.StatusReasonInvalid), want: says(fewDenied)},
		"reason RequestEntityTooLarge":  {spec: reason(metav1.StatusReasonRequestEntityTooLarge), want: says("denied (RequestEntityTooLarge 413): failed expression: " + few)},
		"reason of the first denial":    {spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: few, Reason: new(metav1.StatusReasonForbidden)}, {Expression: "false", Reason: new(metav1.StatusReasonUnauthorized)}}}, want: says("denied (Forbidden 403): failed expression: " + few)},
		"an error has no reason":        {spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: failing, Reason: new(metav1.StatusReasonForbidden)}}}, want: says(failingFailed)},
		"no failurePolicy means Fail":   {spec: spec(failing), want: says(failingFailed)},
		"reason is any that was stored": {spec: reason("Peculiar"), want: says("denied (Peculiar 422): failed expression: " + few)},
	}
}
