// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// failurePolicies gives the policy one validation for each of the failure policies.
func fieldPath(obj policy.APIObject) {
	obj.(*admissionregistration.ValidatingAdmissionPolicy).Spec.Validations[0].FieldPath = new("spec.replicas")
}

func failurePolicies(each ...*v1.FailurePolicyType) change {
	var validations []v1.Validation
	for _, failurePolicy := range each {
		validations = append(validations, v1.Validation{Expression: "object != null", FailurePolicy: failurePolicy})
	}
	return func(obj policy.APIObject) {
		obj.(*admissionregistration.ValidatingAdmissionPolicy).Spec.Validations = validations
	}
}

// scoped gives the policy a validation for the values at a path.
func scoped(path string) change {
	return func(obj policy.APIObject) {
		obj.(*admissionregistration.ValidatingAdmissionPolicy).Spec.Validations = []v1.Validation{{Expression: "object != null", Scope: &v1.ScopedValues{Path: path}}}
	}
}

// While the gate of a field is off, no write adds the field to an object that does not have it, and
// no write loses a stored one.
func TestFieldsOfValidatingGates(t *testing.T) {
	const (
		singletons = features.ValidatingAdmissionPolicySingleton
		overrides  = features.ValidatingAdmissionPolicyValidationFailurePolicy
	)
	ignore, enforced := new(v1.Ignore), typeChecking(v1.EnforcedTypeChecking)
	demo := policyKinds[0].demo
	const timed = "request.time > timestamp('2026-11-28T00:00:00Z')"
	for name, tc := range map[string]gateCase{
		"singleton, off: create":                 {sent: demo(singleton), want: demo(), wantGeneration: 1},
		"singleton, off: update":                 {stored: demo(), sent: demo(singleton), want: demo(), wantGeneration: 7},
		"singleton, off: update of something":    {stored: demo(), sent: demo(singleton, expression("true")), want: demo(expression("true")), wantGeneration: 8},
		"singleton, off: stored, kept":           {stored: demo(singleton), sent: demo(singleton, expression("true")), want: demo(singleton, expression("true")), wantGeneration: 8},
		"singleton, off: stored, taken away":     {stored: demo(singleton), sent: demo(), want: demo(), wantGeneration: 8},
		"singleton, other gate on: create":       {on: overrides, sent: demo(singleton), want: demo(), wantGeneration: 1},
		"singleton, on: create":                  {on: singletons, sent: demo(singleton), want: demo(singleton), wantGeneration: 1},
		"singleton, on: update":                  {on: singletons, stored: demo(), sent: demo(singleton), want: demo(singleton), wantGeneration: 8},
		"singleton, on again: stored, kept":      {on: singletons, stored: demo(singleton), sent: demo(singleton, label), want: demo(singleton, label), wantGeneration: 7},
		"failurePolicy, off: create":             {sent: demo(failurePolicies(ignore, nil)), want: demo(failurePolicies(nil, nil)), wantGeneration: 1},
		"failurePolicy, off: update":             {stored: demo(failurePolicies(nil, nil)), sent: demo(failurePolicies(nil, ignore)), want: demo(failurePolicies(nil, nil)), wantGeneration: 7},
		"failurePolicy, off: stored, kept":       {stored: demo(failurePolicies(nil, ignore)), sent: demo(failurePolicies(nil, ignore), label), want: demo(failurePolicies(nil, ignore), label), wantGeneration: 7},
		"failurePolicy, off: stored, moved":      {stored: demo(failurePolicies(nil, ignore)), sent: demo(failurePolicies(ignore, nil)), want: demo(failurePolicies(ignore, nil)), wantGeneration: 8},
		"failurePolicy, off: stored, taken away": {stored: demo(failurePolicies(nil, ignore)), sent: demo(failurePolicies(nil, nil)), want: demo(failurePolicies(nil, nil)), wantGeneration: 8},
		"failurePolicy, other gate on: create":   {on: singletons, sent: demo(failurePolicies(ignore)), want: demo(failurePolicies(nil)), wantGeneration: 1},
		"failurePolicy, on: create":              {on: overrides, sent: demo(failurePolicies(ignore, nil)), want: demo(failurePolicies(ignore, nil)), wantGeneration: 1},
		"failurePolicy, on: update":              {on: overrides, stored: demo(failurePolicies(nil)), sent: demo(failurePolicies(ignore)), want: demo(failurePolicies(ignore)), wantGeneration: 8},
		"failurePolicy, on again: stored, kept":  {on: overrides, stored: demo(failurePolicies(ignore)), sent: demo(failurePolicies(ignore), label), want: demo(failurePolicies(ignore), label), wantGeneration: 7},
		"scope, off: create":                     {sent: demo(scoped("spec")), want: demo(failurePolicies(nil)), wantGeneration: 1},
		"scope, off: stored, kept":               {stored: demo(scoped("spec")), sent: demo(scoped("spec"), label), want: demo(scoped("spec"), label), wantGeneration: 7},
		"scope, on: create":                      {on: features.AdmissionPolicyExpressionScopes, sent: demo(scoped("spec")), want: demo(scoped("spec")), wantGeneration: 1},
		"lookups, off: create":                   {sent: demo(lookup("services", "Service")), want: demo(), wantGeneration: 1},
		"lookups, off: stored, kept":             {stored: demo(lookup("services", "Service")), sent: demo(lookup("services", "Service"), expression("true")), want: demo(lookup("services", "Service"), expression("true")), wantGeneration: 8},
		"lookups, on: create":                    {on: features.AdmissionPolicyLookups, sent: demo(lookup("services", "Service")), want: demo(lookup("services", "Service")), wantGeneration: 1},
		"request.time, off: create":              {sent: demo(expression(timed)), want: demo(expression(timed)), wantFields: []string{"spec.validations[0].expression"}},
		"request.time, off: update":              {stored: demo(), sent: demo(expression(timed)), want: demo(expression(timed)), wantFields: []string{"spec.validations[0].expression"}},
		"request.time, off: stored, kept":        {stored: demo(expression(timed)), sent: demo(expression(timed), label), want: demo(expression(timed), label), wantGeneration: 7},
		"request.time, off: stored, changed":     {stored: demo(expression(timed)), sent: demo(expression("!(" + timed + ")")), want: demo(expression("!(" + timed + ")")), wantGeneration: 8},
		"request.time, on: create":               {on: features.AdmissionPolicyRequestTime, sent: demo(expression(timed)), want: demo(expression(timed)), wantGeneration: 1},
		"fieldPath, off: create":                 {sent: demo(fieldPath), want: demo(), wantGeneration: 1},
		"fieldPath, off: update":                 {stored: demo(), sent: demo(fieldPath), want: demo(), wantGeneration: 7},
		"fieldPath, off: stored, kept":           {stored: demo(fieldPath), sent: demo(fieldPath, label), want: demo(fieldPath, label), wantGeneration: 7},
		"fieldPath, other gate on: create":       {on: overrides, sent: demo(fieldPath), want: demo(), wantGeneration: 1},
		"fieldPath, on: create":                  {on: features.AdmissionPolicyCauses, sent: demo(fieldPath), want: demo(fieldPath), wantGeneration: 1},
		"typeChecking, other gate on: create":    {on: singletons, sent: demo(enforced), want: demo(), wantGeneration: 1},
	} {
		t.Run(name, func(t *testing.T) { tc.run(t, policyKinds[0].strategy) })
	}
}

// Dropped fields are not validated.
func TestValidationOfSingletons(t *testing.T) {
	demo := policyKinds[0].demo
	for name, tc := range map[string]struct {
		on           bool
		stored, sent policy.APIObject // a create if stored is nil
		wantFields   []string
	}{
		"off: singleton with params":                   {sent: demo(singleton, params("ConfigMap"))},
		"off: stored singleton gets params":            {stored: demo(singleton), sent: demo(singleton, params("ConfigMap")), wantFields: []string{"spec.paramKind"}},
		"off: stored singleton becomes a policy again": {stored: demo(singleton), sent: demo(params("ConfigMap"))},
		"on: singleton with params":                    {on: true, sent: demo(singleton, params("ConfigMap")), wantFields: []string{"spec.paramKind"}},
		"on: singleton with unreadable params":         {on: true, sent: demo(singleton, params("Secret")), wantFields: []string{"spec.paramKind"}},
		"on: policy becomes a singleton":               {on: true, stored: demo(params("ConfigMap")), sent: demo(singleton)},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ValidatingAdmissionPolicySingleton, tc.on)
			expectCauses(t, write(policyKinds[0].strategy, tc.stored, tc.sent), tc.wantFields...)
		})
	}
}

// A policy with type errors is rejected if it is new or if the update changes what they depend on.
func TestTypeErrorsOfValidating(t *testing.T) {
	const (
		misspelt, another      = "object.spec.relpicas <= 5", "object.spec.repilcas <= 5"
		variables, validations = "spec.variables[0].expression", "spec.validations[0].expression"
	)
	enforced, informational := typeChecking(v1.EnforcedTypeChecking), typeChecking(v1.InformationalTypeChecking)
	demo := policyKinds[0].demo
	wrong := func(changes ...change) policy.APIObject {
		return demo(append([]change{enforced, expression(misspelt), variable("v", misspelt)}, changes...)...)
	}
	edit := func(edit func(*v1.Validation)) change {
		return func(obj policy.APIObject) {
			edit(&obj.(*admissionregistration.ValidatingAdmissionPolicy).Spec.Validations[0])
		}
	}
	annotation := func(key string) change {
		return func(obj policy.APIObject) {
			obj.(*admissionregistration.ValidatingAdmissionPolicy).Spec.AuditAnnotations = []v1.AuditAnnotation{{Key: key, ValueExpression: "'v'"}}
		}
	}
	selector := func(obj policy.APIObject) {
		fieldsOf(obj).matchConstraints.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "blue"}}
	}
	strategy := policy.NewStrategy(policy.Validating, access, builtintypes.TypeChecks.Validating, nil, policy.ValidatingBinding.PoliciesBoundBy(notServed))
	for name, tc := range map[string]struct {
		off          bool
		stored, sent policy.APIObject // a create if stored is nil
		wantFields   []string
	}{
		"create":                         {sent: wrong(), wantFields: []string{variables, validations}},
		"create, off":                    {off: true, sent: wrong()},
		"create: not enforced":           {sent: demo(expression(misspelt))},
		"create: informational":          {sent: demo(informational, expression(misspelt))},
		"create: right":                  {sent: demo(enforced)},
		"create: custom resources":       {sent: demo(enforced, expression(misspelt), resources("widgets"))},
		"create: some types":             {sent: demo(enforced, resources("deployments", "daemonsets")), wantFields: []string{validations}},
		"create: invalid":                {sent: demo(enforced, expression("object."), variable("v", misspelt)), wantFields: []string{validations}},
		"create: unreadable params":      {sent: demo(enforced, expression(misspelt), params("Secret")), wantFields: []string{"spec.paramKind", validations}},
		"create: type of params":         {sent: demo(enforced, expression("params.data.a == 1"), params("ConfigMap")), wantFields: []string{validations}},
		"update: same":                   {stored: wrong(), sent: wrong()},
		"update: same, off":              {off: true, stored: wrong(), sent: wrong()},
		"update: metadata":               {stored: wrong(), sent: wrong(label)},
		"update: failurePolicy":          {stored: wrong(), sent: wrong(ignoreFailures)},
		"update: message":                {stored: wrong(), sent: wrong(edit(func(v *v1.Validation) { v.Message = "too many" }))},
		"update: fieldPath":              {stored: wrong(), sent: wrong(edit(func(v *v1.Validation) { v.FieldPath = new("nothing") }))},
		"update: key of annotation":      {stored: wrong(annotation("a")), sent: wrong(annotation("b"))},
		"update: name of condition":      {stored: wrong(matchCondition("a", "true")), sent: wrong(matchCondition("b", "true"))},
		"update: expression":             {stored: wrong(), sent: wrong(expression(another)), wantFields: []string{variables, validations}},
		"update: expression, off":        {off: true, stored: wrong(), sent: wrong(expression(another))},
		"update: more expressions":       {stored: wrong(), sent: wrong(matchCondition("a", "true")), wantFields: []string{variables, validations}},
		"update: message expression":     {stored: wrong(), sent: wrong(edit(func(v *v1.Validation) { v.MessageExpression = "'no'" })), wantFields: []string{variables, validations}},
		"update: one is repaired":        {stored: wrong(), sent: wrong(expression("true")), wantFields: []string{variables}},
		"update: all are repaired":       {stored: wrong(), sent: demo(enforced)},
		"update: resources":              {stored: wrong(), sent: wrong(resources("daemonsets")), wantFields: []string{variables, validations}},
		"update: other resources":        {stored: wrong(), sent: wrong(resources("widgets"))},
		"update: selector":               {stored: wrong(), sent: wrong(selector), wantFields: []string{variables, validations}},
		"update: paramKind":              {stored: wrong(), sent: wrong(params("ConfigMap")), wantFields: []string{variables, validations}},
		"update: name of variable":       {stored: wrong(), sent: wrong(variable("w", misspelt)), wantFields: []string{variables, validations}},
		"update: becomes enforced":       {stored: demo(expression(misspelt)), sent: demo(enforced, expression(misspelt)), wantFields: []string{validations}},
		"update: becomes informational":  {stored: wrong(), sent: wrong(informational)},
		"update: no longer set":          {stored: wrong(), sent: demo(expression(misspelt))},
		"update: invalid in another way": {stored: wrong(), sent: wrong(expression("object.")), wantFields: []string{validations}},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyTypeEnforcement, !tc.off)
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyCauses, true)
			expectCauses(t, write(strategy, tc.stored, tc.sent), tc.wantFields...)
		})
	}
}

// The type check receives the policy that is to be stored, and its message reaches the client.
func TestTypeErrorMessage(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyTypeEnforcement, true)
	strategy := policy.NewStrategy(policy.Validating, access, func(p *v1.ValidatingAdmissionPolicy) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("spec"), p.Spec.Validations[0].Expression, "of "+p.Name)}
	}, nil, policy.ValidatingBinding.PoliciesBoundBy(notServed))
	err := write(strategy, nil, validating(expression("object.spec.relpicas <= 5")))
	const want = `spec: Invalid value: "object.spec.relpicas <= 5": of demo`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got error %v, want %s", err, want)
	}
}
