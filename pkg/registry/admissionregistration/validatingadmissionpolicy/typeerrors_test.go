// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

const (
	misfit  = "object.spec.relpicas <= 5"
	another = "object.spec.repilcas <= 5"
)

func on(resources ...string) func(*admissionregistration.ValidatingAdmissionPolicy) {
	return func(policy *admissionregistration.ValidatingAdmissionPolicy) {
		policy.Spec.MatchConstraints.ResourceRules[0].Resources = resources
	}
}

// Type errors refuse a policy that is new, and one that changes in what they depend on.
func TestTypeErrors(t *testing.T) {
	type policy = *admissionregistration.ValidatingAdmissionPolicy
	type change = func(policy)
	enforced, informational := typeChecking(v1.EnforcedTypeChecking), typeChecking(v1.InformationalTypeChecking)
	variable := func(name, source string) change {
		return func(p policy) { p.Spec.Variables = []v1.Variable{{Name: name, Expression: source}} }
	}
	wrong := demo(enforced, expression(misfit), variable("v", misfit))
	but := func(changes ...change) policy {
		return demo(append([]change{enforced, expression(misfit), variable("v", misfit)}, changes...)...)
	}
	const variables, validations = "spec.variables[0].expression", "spec.validations[0].expression"
	for name, tc := range map[string]struct {
		off          bool
		stored, sent policy
		wantFields   []string
	}{
		"create":                         {sent: wrong, wantFields: []string{variables, validations}},
		"create, off":                    {off: true, sent: wrong},
		"create: not enforced":           {sent: demo(expression(misfit))},
		"create: informational":          {sent: demo(informational, expression(misfit))},
		"create: right":                  {sent: demo(enforced)},
		"create: custom resources":       {sent: demo(enforced, expression(misfit), on("widgets"))},
		"create: some types":             {sent: demo(enforced, on("deployments", "daemonsets")), wantFields: []string{validations}},
		"create: invalid":                {sent: demo(enforced, expression("object."), variable("v", misfit)), wantFields: []string{validations}},
		"create: unreadable params":      {sent: demo(enforced, expression(misfit), params("Secret")), wantFields: []string{"spec.paramKind", validations}},
		"create: type of params":         {sent: demo(enforced, expression("params.data.a == 1"), params("ConfigMap")), wantFields: []string{validations}},
		"update: same":                   {stored: wrong, sent: but()},
		"update: same, off":              {off: true, stored: wrong, sent: but()},
		"update: metadata":               {stored: wrong, sent: but(label)},
		"update: failurePolicy":          {stored: wrong, sent: but(func(p policy) { p.Spec.FailurePolicy = new(v1.Ignore) })},
		"update: message":                {stored: wrong, sent: but(func(p policy) { p.Spec.Validations[0].Message = "too many" })},
		"update: key of annotation":      {stored: but(annotation("a")), sent: but(annotation("b"))},
		"update: name of condition":      {stored: but(matchCondition("a")), sent: but(matchCondition("b"))},
		"update: expression":             {stored: wrong, sent: but(expression(another)), wantFields: []string{variables, validations}},
		"update: expression, off":        {off: true, stored: wrong, sent: but(expression(another))},
		"update: more expressions":       {stored: wrong, sent: but(matchCondition("a")), wantFields: []string{variables, validations}},
		"update: message expression":     {stored: wrong, sent: but(func(p policy) { p.Spec.Validations[0].MessageExpression = "'no'" }), wantFields: []string{variables, validations}},
		"update: one is repaired":        {stored: wrong, sent: but(expression("true")), wantFields: []string{variables}},
		"update: all are repaired":       {stored: wrong, sent: demo(enforced)},
		"update: resources":              {stored: wrong, sent: but(on("daemonsets")), wantFields: []string{variables, validations}},
		"update: other resources":        {stored: wrong, sent: but(on("widgets"))},
		"update: selector":               {stored: wrong, sent: but(selector), wantFields: []string{variables, validations}},
		"update: paramKind":              {stored: wrong, sent: but(params("ConfigMap")), wantFields: []string{variables, validations}},
		"update: name of variable":       {stored: wrong, sent: but(variable("w", misfit)), wantFields: []string{variables, validations}},
		"update: becomes enforced":       {stored: demo(expression(misfit)), sent: demo(enforced, expression(misfit)), wantFields: []string{validations}},
		"update: becomes informational":  {stored: wrong, sent: but(informational)},
		"update: no longer set":          {stored: wrong, sent: demo(expression(misfit))},
		"update: invalid in another way": {stored: wrong, sent: but(expression("object.")), wantFields: []string{validations}},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyTypeEnforcement, !tc.off)
			strategy, sent := strategyWith(builtintypes.Validate), tc.sent.DeepCopy() // cases share policies
			var err error
			if tc.stored == nil {
				err = rest.BeforeCreate(strategy, byAlice(), sent)
			} else {
				err = rest.BeforeUpdate(strategy, byAlice(), sent, tc.stored.DeepCopy())
			}
			expectCauses(t, err, tc.wantFields...)
		})
	}
}

func annotation(key string) func(*admissionregistration.ValidatingAdmissionPolicy) {
	return func(policy *admissionregistration.ValidatingAdmissionPolicy) {
		policy.Spec.AuditAnnotations = []v1.AuditAnnotation{{Key: key, ValueExpression: "'v'"}}
	}
}

func matchCondition(name string) func(*admissionregistration.ValidatingAdmissionPolicy) {
	return func(policy *admissionregistration.ValidatingAdmissionPolicy) {
		policy.Spec.MatchConditions = []v1.MatchCondition{{Name: name, Expression: "true"}}
	}
}

func selector(policy *admissionregistration.ValidatingAdmissionPolicy) {
	policy.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "blue"}}
}

// The check sees the policy as it would be stored, and its text reaches the client.
func TestTypeErrorMessage(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyTypeEnforcement, true)
	err := rest.BeforeCreate(strategyWith(func(policy *v1.ValidatingAdmissionPolicy) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("spec"), policy.Spec.Validations[0].Expression, "of "+policy.Name)}
	}), byAlice(), demo(expression(misfit)))
	const want = `spec: Invalid value: "object.spec.relpicas <= 5": of demo`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got error %v, want %s", err, want)
	}
}
