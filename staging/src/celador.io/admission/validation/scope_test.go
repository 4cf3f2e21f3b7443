// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/validation"
)

func TestScopes(t *testing.T) {
	with := func(scope *v1.ScopedValues, expression, message string) *v1.ValidatingAdmissionPolicy {
		return validatingPolicy(func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.Variables = []v1.Variable{{Name: "limit", Expression: "object.spec.replicas"}}
			p.Spec.Validations = []v1.Validation{{Scope: scope, Expression: expression, MessageExpression: message}}
		})
	}
	container, broken := &v1.ScopedValues{Type: "io.k8s.api.core.v1.Container"}, &v1.ScopedValues{Path: "spec.a[b]"}
	named := func(scope *v1.ScopedValues) *v1.ValidatingAdmissionPolicy {
		p := with(scope, "true", "")
		p.Spec.Validations[0].FieldPath = new("spec.replicas")
		return p
	}
	for name, test := range map[string]struct {
		policy, stored *v1.ValidatingAdmissionPolicy
		want           string
	}{
		"type":               {with(container, "self.image != oldSelf.image && variables.limit > 1 && object.spec.replicas > 1", "path + string(self.image)"), nil, ""},
		"path":               {with(&v1.ScopedValues{Path: "metadata.annotations['example.com/zone']"}, "self != ''", ""), nil, ""},
		"none":               {with(nil, "self != ''", ""), nil, "undeclared reference to 'self'"},
		"none, in a message": {with(nil, "true", "path"), nil, "spec.validations[0].messageExpression: Invalid value: \"path\": compilation failed"},
		"type of path":       {with(container, "path > 1", ""), nil, "found no matching overload for '_>_' applied to '(string, int)'"},
		"in a variable": {validatingPolicy(func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.Variables, p.Spec.Validations[0].Scope = []v1.Variable{{Name: "v", Expression: "self"}}, container
		}), nil, "spec.variables[0].expression: Invalid value: \"self\": compilation failed"},
		"empty":             {with(&v1.ScopedValues{}, "true", ""), nil, "spec.validations[0].scope: Required value: must have a type"},
		"both":              {with(&v1.ScopedValues{Type: "Container", Path: "spec"}, "true", ""), nil, "spec.validations[0].scope.path: Forbidden: must not be set together with type"},
		"no name":           {with(&v1.ScopedValues{Type: "core/v1 Container"}, "true", ""), nil, "spec.validations[0].scope.type: Invalid value: \"core/v1 Container\": must be the name of an OpenAPI model"},
		"broken path":       {with(broken, "true", ""), nil, "spec.validations[0].scope.path: Invalid value: \"spec.a[b]\": character 8: expected a name in quotes"},
		"list item":         {with(&v1.ScopedValues{Path: "spec.a[0]"}, "true", ""), nil, "a list item cannot be selected by its index: write [*] for every item"},
		"fieldPath":         {named(container), nil, "spec.validations[0].fieldPath: Forbidden: must not be set together with scope"},
		"fieldPath, stored": {named(broken), named(container), "spec.validations[0].scope.path"},
		"fieldPath kept":    {named(container), named(container), ""},
		"stored":            {with(broken, "self == 1", ""), with(broken, "true", ""), ""},
		"another stored":    {with(broken, "self == 1", ""), with(container, "true", ""), "spec.validations[0].scope.path"},
	} {
		t.Run(name, func(t *testing.T) {
			errs := validation.ValidateValidatingAdmissionPolicy(test.policy)
			if test.stored != nil {
				errs = validation.ValidateValidatingAdmissionPolicyUpdate(test.policy, test.stored)
			}
			got := ""
			if len(errs) > 0 {
				got = errs.ToAggregate().Error()
			}
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
