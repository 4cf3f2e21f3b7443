// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"fmt"
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// actions are examples of validationActions.
func actions() map[string]example {
	spec := v1.ValidatingAdmissionPolicySpec{
		Validations:      []v1.Validation{{Expression: few, Reason: new(metav1.StatusReasonForbidden)}, {Expression: failing}, {Expression: "false", Message: "<no> & \"never\""}},
		AuditAnnotations: []v1.AuditAnnotation{{Key: "key", ValueExpression: "'noted'"}},
	}
	bound := func(spec v1.ValidatingAdmissionPolicySpec, want []string, actions ...v1.ValidationAction) example {
		return example{spec: spec, bindings: []*v1.ValidatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy, actions...)}, want: want}
	}
	const (
		noted  = "noted key=noted"
		denied = "denied (Forbidden 403): failed expression: " + few
	)
	warned := []string{
		"warned: failed expression: " + few,
		"warned: " + failingFailed[len("denied: "):],
		"warned: <no> & \"never\"",
	}
	// JSON escapes markup.
	audited := func(actions string) []string {
		const format = `audited {"message":"%s","policy":"policy.example.com","binding":"binding.example.com","expressionIndex":%d,"validationActions":[%s]}`
		return []string{
			fmt.Sprintf(format, `failed expression: object.spec.replicas \u003c= 5`, 0, actions),
			fmt.Sprintf(format, `expression 'object.spec.missing.field == 1' resulted in error: no such key: missing`, 1, actions),
			fmt.Sprintf(format, `\u003cno\u003e \u0026 \"never\"`, 2, actions),
		}
	}
	lines := func(sets ...[]string) []string { return says(append(slices.Concat(sets...), noted)...) }
	without := func(lines []string, index int) []string { return slices.Delete(slices.Clone(lines), index, index+1) }
	many := v1.ValidatingAdmissionPolicySpec{Validations: slices.Repeat(validating("false"), 60)}
	var fifty []string
	for i := range 50 {
		fifty = append(fifty, fmt.Sprintf(`audited {"message":"failed expression: false","policy":"policy.example.com","binding":"binding.example.com","expressionIndex":%d,"validationActions":["Audit"]}`, i))
	}
	misconfigured := v1.ValidatingAdmissionPolicySpec{MatchConstraints: matching(v1.Equivalent, rule("apps", "v9", "deployments")), Validations: validating("false")}
	return map[string]example{
		"deny":                    bound(spec, lines([]string{denied}), v1.Deny),
		"warn":                    bound(spec, lines(warned), v1.Warn),
		"warn, ignoring errors":   bound(ignoring(spec), lines(without(warned, 1)), v1.Warn),
		"audit":                   bound(spec, lines(audited(`"Audit"`)), v1.Audit),
		"audit, ignoring errors":  bound(ignoring(spec), lines(without(audited(`"Audit"`), 1)), v1.Audit),
		"audit and warn":          bound(spec, lines(audited(`"Audit","Warn"`), warned), v1.Audit, v1.Warn),
		"warn and audit":          bound(spec, lines(audited(`"Warn","Audit"`), warned), v1.Warn, v1.Audit),
		"deny and audit":          bound(spec, lines([]string{denied}, audited(`"Deny","Audit"`)), v1.Deny, v1.Audit),
		"deny and warn":           bound(spec, lines([]string{denied}, warned), v1.Deny, v1.Warn),
		"no action":               bound(spec, lines()),
		"audit of many failures":  bound(many, says(fifty...), v1.Audit),
		"warnings of many":        bound(many, slices.Repeat([]string{"warned: failed expression: false"}, 60), v1.Warn),
		"warn of no object type":  bound(misconfigured, []string{`denied: failed to configure binding: failed to convert object version: no kind "Deployment" is registered for version "apps/v9" in scheme "pkg/runtime/scheme.go:111"`}, v1.Warn),
		"audit of a config error": bound(v1.ValidatingAdmissionPolicySpec{MatchConstraints: matching(v1.Equivalent, rule("apps", "v1beta1", "deployments"))}, []string{"denied by the policy: failed to configure policy: unable to convert to apps/v1beta1, Resource=deployments: unknown kind"}, v1.Audit),
	}
}
